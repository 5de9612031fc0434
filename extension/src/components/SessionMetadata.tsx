import { Detail } from "@raycast/api";
import { type ReactElement } from "react";
import { gapsOf } from "@persyk/store";
import { counted, dateText, spokenLength } from "../lib/format";
import { type SessionView } from "../lib/transcript";

/** What is known of a session beside its words. */
export function SessionMetadata({ view }: { view: SessionView }): ReactElement {
  if (view.kind === "unreadable") {
    return (
      <Detail.Metadata>
        <Detail.Metadata.Label title="Created" text={dateText(view.createdAt)} />
        <Detail.Metadata.Label title="State" text={view.verdict === "blocked" ? "Blocked" : "Damaged"} />
        <Detail.Metadata.Label title="Readable Entries" text={String(view.entryCount)} />
        <Detail.Metadata.Label title="Session ID" text={view.id} />
      </Detail.Metadata>
    );
  }
  const { transcript, archived, torn, current, recordedMs } = view;
  const { recordings, turns } = transcript;
  const gaps = gapsOf(recordings).length;
  return (
    <Detail.Metadata>
      <Detail.Metadata.Label title="Created" text={dateText(view.createdAt)} />
      <Detail.Metadata.Label title="Messages" text={String(turns.length)} />
      {recordings.length > 0 ? (
        <Detail.Metadata.Label
          title={recordings.length === 1 ? "Recording" : "Recordings"}
          text={recordingText(recordings.length, recordedMs)}
        />
      ) : null}
      {recordings.map((recording) =>
        recording.state === "finished" && recording.outcome !== "incomplete" ? null : (
          <Detail.Metadata.Label
            key={recording.recordingId}
            title={`Recording of ${dateText(recording.startedAt)}`}
            text={stateText(recording.state, recording.reason)}
          />
        ),
      )}
      {gaps > 0 ? <Detail.Metadata.Label title="Gaps" text={counted(gaps, "gap")} /> : null}
      {archived ? <Detail.Metadata.Label title="Archived" text="Yes" /> : null}
      {torn ? <Detail.Metadata.Label title="State" text="The last line is not complete" /> : null}
      {current ? null : <Detail.Metadata.Label title="Branch" text="As it was found; the session has gone on" />}
      <Detail.Metadata.Separator />
      <Detail.Metadata.Label title="Session ID" text={view.id} />
    </Detail.Metadata>
  );
}

function recordingText(count: number, lengthMs: number): string {
  const length = lengthMs > 0 ? spokenLength(lengthMs) : "length not recorded";
  return count === 1 ? length : `${count}, ${length}`;
}

function stateText(state: "finished" | "interrupted" | "open", reason: string | null): string {
  const why = reason === null ? "" : ` (${reason.replace(/[-_]/g, " ")})`;
  switch (state) {
    case "finished":
      return `Incomplete${why}`;
    case "interrupted":
      return `Interrupted${why}`;
    case "open":
      return "Not ended: it runs, or was interrupted";
  }
}
