import { Color, Icon, MenuBarExtra } from "@raycast/api";
import { usePromise } from "@raycast/utils";
import { useMemo, type ReactElement } from "react";
import { shorten } from "../lib/format";
import { stopRecording } from "../lib/live-actions";
import { mend, offeredTitle, showCommand } from "../lib/mend";
import { type Problem } from "../lib/problems";
import { faceOf, unknownFace, type RecordingFace } from "../lib/recording-face";
import { recordings, type Recordings } from "../lib/recording";

/** Elapsed time and stop in the menu bar. It reads one file and starts nothing; without a recording it is not there. */
export function RecordingStatus({ source: given }: { source?: Recordings }): ReactElement | null {
  const source = useMemo(() => given ?? recordings(), [given]);
  const { data: face, isLoading } = usePromise(() => source.view().then(faceOf, unknownFace), []);
  if (face?.kind === "unknown") return <UnknownStatus problem={face.problem} />;
  if (face?.kind !== "live") return isLoading ? <MenuBarExtra isLoading /> : null;
  const last = face.saved.at(-1)?.text;
  const [warning] = face.warnings;
  return (
    <MenuBarExtra
      isLoading={isLoading}
      icon={{ source: Icon.Microphone, tintColor: Color.Red }}
      title={titleOf(face)}
      tooltip={`Recording: ${face.device}`}
    >
      <MenuBarExtra.Section title={`${face.elapsed}, ${face.device}`}>
        {warning === undefined ? null : <MenuBarExtra.Item title={warning.title} icon={Icon.ExclamationMark} />}
        {last === undefined ? null : <MenuBarExtra.Item title={shorten(last, 60)} icon={Icon.SpeechBubble} />}
      </MenuBarExtra.Section>
      <MenuBarExtra.Section>
        {face.phase === "finishing" ? null : (
          <MenuBarExtra.Item title="Stop Recording" icon={Icon.Stop} onAction={() => void stopRecording(source)} />
        )}
        <MenuBarExtra.Item title="Show Recording" icon={Icon.Eye} onAction={() => void showCommand("record")} />
        <MenuBarExtra.Item
          title="Choose Microphone…"
          icon={Icon.Microphone}
          onAction={() => void showCommand("choose-microphone")}
        />
      </MenuBarExtra.Section>
    </MenuBarExtra>
  );
}

function titleOf({ phase, elapsed }: Extract<RecordingFace, { kind: "live" }>): string {
  switch (phase) {
    case "starting":
      return "Waiting";
    case "recording":
      return elapsed;
    case "finishing":
      return "Finishing";
  }
}

/** Whether something is recorded is not known: that is said where a recording would be seen. */
function UnknownStatus({ problem }: { problem: Problem }): ReactElement {
  const { title, cause, remedy, action } = problem;
  const offered = offeredTitle(action);
  return (
    <MenuBarExtra icon={{ source: Icon.ExclamationMark, tintColor: Color.Orange }} tooltip={title}>
      <MenuBarExtra.Section title={title}>
        <MenuBarExtra.Item title={`${cause} ${remedy}`.trim()} />
        {offered === null ? null : <MenuBarExtra.Item title={offered} onAction={() => void mend(action)} />}
      </MenuBarExtra.Section>
    </MenuBarExtra>
  );
}
