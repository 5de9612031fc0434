import { Color, Icon, MenuBarExtra } from "@raycast/api";
import { usePromise } from "@raycast/utils";
import { useMemo, type ReactElement } from "react";
import { shorten } from "../lib/format";
import { showCommand } from "../lib/mend";
import { faceOf, type RecordingFace } from "../lib/recording-face";
import { recordings } from "../lib/recording";

/** Elapsed time and stop in the menu bar. It reads one file and starts nothing; without a recording it is not there. */
export function RecordingStatus(): ReactElement | null {
  const source = useMemo(() => recordings(), []);
  const { data: face, isLoading } = usePromise(async () => faceOf(await source.view()), [], {
    onError: () => undefined,
  });
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
          <MenuBarExtra.Item title="Stop Recording" icon={Icon.Stop} onAction={() => void source.stop()} />
        )}
        <MenuBarExtra.Item title="Show Recording" icon={Icon.Eye} onAction={() => void showCommand("record")} />
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
