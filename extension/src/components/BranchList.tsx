import { Action, ActionPanel, Color, Icon, List, useNavigation } from "@raycast/api";
import { usePromise } from "@raycast/utils";
import { useMemo, type ReactElement } from "react";
import { loadBranches } from "../lib/branches";
import { counted, dateText, shorten } from "../lib/format";
import { problemOf } from "../lib/problems";
import { type Settings } from "../lib/settings";
import { openLibrary } from "../lib/store";
import { ProblemEmptyView } from "./ProblemView";

interface Props {
  settings: Settings;
  location: string;
  onSelect: (leaf: string | undefined) => void;
}

/** The branches of a session: where it was continued from an earlier message. */
export function BranchList({ settings, location, onSelect }: Props): ReactElement {
  const library = useMemo(() => openLibrary(settings), [settings]);
  const { pop } = useNavigation();
  const { data, isLoading, error, revalidate } = usePromise(
    (wanted: string) => loadBranches(library, wanted),
    [location],
    { onError: () => undefined },
  );
  return (
    <List isLoading={isLoading} navigationTitle="Branches" searchBarPlaceholder="Filter branches">
      {error === undefined ? (
        <List.EmptyView icon={Icon.Switch} title="No Branches" description="This session has no entries yet." />
      ) : (
        <ProblemEmptyView problem={problemOf(error, { location })} handlers={{ retry: () => void revalidate() }} />
      )}
      {(data ?? []).map((branch) => (
        <List.Item
          key={branch.leaf}
          id={branch.leaf}
          title={branch.text === "" ? "No text" : shorten(branch.text, 80)}
          icon={{ value: Icon.Switch, tooltip: "Branch" }}
          accessories={[
            ...(branch.current ? [{ tag: { value: "Newest", color: Color.Green } }] : []),
            { text: counted(branch.messages, "message") },
            { text: dateText(branch.timestamp) },
          ]}
          actions={
            <ActionPanel>
              <Action
                title="Show Branch"
                icon={Icon.Eye}
                onAction={() => {
                  onSelect(branch.current ? undefined : branch.leaf);
                  pop();
                }}
              />
            </ActionPanel>
          }
        />
      ))}
    </List>
  );
}
