import { Action, ActionPanel, Color, Icon, Keyboard, List, Toast, environment, showToast } from "@raycast/api";
import { type ReactElement } from "react";
import { listInputDevices } from "../capture/devices";
import { useMicrophones, type ListDevices } from "../hooks/useMicrophones";
import { captureHelper } from "../lib/helper";
import { attempt, mend } from "../lib/mend";
import {
  followSystem,
  microphoneRows,
  storeMicrophone,
  type MicrophoneChoice,
  type MicrophoneRow,
} from "../lib/microphone";
import { ProblemEmptyView } from "./ProblemView";

const FOLLOW_SYSTEM = "follow-system";

/** The input devices of this Mac, to choose the one that recordings are made with. */
export function MicrophoneList({ list = listDevices }: { list?: ListDevices }): ReactElement {
  const { state, refresh, chosen } = useMicrophones(list);
  const choose = (choice: MicrophoneChoice, message: string) =>
    void attempt(undefined, async () => {
      await storeMicrophone(choice);
      chosen(choice);
      const title = choice.kind === "device" ? `${choice.name} Is Chosen` : "Following the System";
      await showToast({ style: Toast.Style.Success, title, message });
    });
  const follow = () => choose(followSystem, "From the next recording on, the input that macOS uses.");
  const further = <FurtherActions refresh={refresh} />;
  switch (state.kind) {
    case "loading":
      return <MicrophonesFrame isLoading />;
    case "failed":
      return (
        <MicrophonesFrame>
          <ProblemEmptyView problem={state.problem} handlers={{ retry: refresh }}>
            <Action title="Follow System" icon={Icon.ComputerChip} onAction={follow} />
            {further}
          </ProblemEmptyView>
        </MicrophonesFrame>
      );
    case "listed":
    case "refreshing":
      break;
  }
  const { choice } = state;
  const rows = microphoneRows(state.devices, choice);
  const isLoading = state.kind === "refreshing";
  if (rows.length === 0) {
    return (
      <MicrophonesFrame isLoading={isLoading}>
        <List.EmptyView
          icon={Icon.MicrophoneDisabled}
          title="No Input Devices"
          description="macOS knows no microphone. Connect one, or check the input in Sound settings."
          actions={<ActionPanel>{further}</ActionPanel>}
        />
      </MicrophonesFrame>
    );
  }
  return (
    <MicrophonesFrame isLoading={isLoading} selected={choice.kind === "device" ? idOf(choice) : FOLLOW_SYSTEM}>
      <List.Item
        id={FOLLOW_SYSTEM}
        title="Follow System"
        subtitle="The input that macOS uses"
        icon={checkOf(choice.kind === "follow-system")}
        actions={
          <ActionPanel>
            <Action title="Follow System" icon={Icon.Check} onAction={follow} />
            {further}
          </ActionPanel>
        }
      />
      <List.Section title="Input Devices">
        {rows.map((row) => (
          <List.Item
            key={row.choice.uid}
            id={idOf(row.choice)}
            title={row.choice.name}
            subtitle={row.transport}
            icon={checkOf(row.isChosen)}
            accessories={accessoriesOf(row)}
            actions={
              <ActionPanel>
                <Action
                  title="Use This Microphone"
                  icon={Icon.Check}
                  onAction={() => choose(row.choice, consequenceOf(row))}
                />
                {further}
              </ActionPanel>
            }
          />
        ))}
      </List.Section>
    </MicrophonesFrame>
  );
}

function MicrophonesFrame({
  isLoading = false,
  selected,
  children,
}: {
  isLoading?: boolean;
  selected?: string;
  children?: List.Props["children"];
}): ReactElement {
  return (
    <List
      isLoading={isLoading}
      searchBarPlaceholder="Filter microphones"
      {...(selected === undefined ? {} : { selectedItemId: selected })}
    >
      {children}
    </List>
  );
}

function FurtherActions({ refresh }: { refresh: () => void }): ReactElement {
  return (
    <>
      <Action
        title="Refresh"
        icon={Icon.ArrowClockwise}
        shortcut={Keyboard.Shortcut.Common.Refresh}
        onAction={refresh}
      />
      <Action
        title="Open Sound Settings"
        icon={Icon.Gear}
        onAction={() => void mend({ kind: "open-sound-settings" })}
      />
    </>
  );
}

/** A view of its own, on top of the one with the action. */
export function ChooseMicrophoneAction(): ReactElement {
  return <Action.Push title="Choose Microphone…" icon={Icon.Microphone} target={<MicrophoneList />} />;
}

async function listDevices(signal: AbortSignal): ReturnType<ListDevices> {
  return listInputDevices(await captureHelper(environment.assetsPath), { signal });
}

function idOf({ uid }: MicrophoneRow["choice"]): string {
  return `device:${uid}`;
}

function checkOf(isChosen: boolean): NonNullable<List.Item.Props["icon"]> {
  return isChosen
    ? { value: { source: Icon.CheckCircle, tintColor: Color.Green }, tooltip: "Chosen" }
    : { value: Icon.Circle, tooltip: "Not chosen" };
}

function accessoriesOf({ state }: MicrophoneRow): List.Item.Accessory[] {
  switch (state) {
    case "connected":
      return [];
    case "system-default":
      return [{ tag: "System Default" }];
    case "not-connected":
      return [
        {
          tag: { value: "Not connected", color: Color.Orange },
          tooltip: "Until it is connected, recordings follow the system.",
        },
      ];
  }
}

function consequenceOf({ state }: MicrophoneRow): string {
  return state === "not-connected"
    ? "It is not connected: until it is, recordings follow the system."
    : "The next recording uses it.";
}
