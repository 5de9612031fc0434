import { Action, ActionPanel, Detail, Icon, Keyboard, useNavigation } from "@raycast/api";
import { useMemo, useState, type ReactElement } from "react";
import { useSessionView } from "../hooks/useSessionView";
import { plain } from "../lib/markdown";
import { warningMarkdown } from "../lib/problem-markdown";
import { problemOf } from "../lib/problems";
import { copySession, recoverSession } from "../lib/session-actions";
import { type Settings } from "../lib/settings";
import { openLibrary } from "../lib/store";
import { transcriptMarkdown, type SessionView } from "../lib/transcript";
import { BranchList } from "./BranchList";
import { ManageActions } from "./ManageActions";
import { MessageList } from "./MessageList";
import { ProblemView } from "./ProblemView";
import { RecordingActions } from "./RecordingActions";
import { SessionMetadata } from "./SessionMetadata";

interface Props {
  settings: Settings;
  /** A location or an id. */
  location: string;
  /** What a search found; the newest branch when absent. */
  leaf?: string | null | undefined;
  onChange?: () => void;
}

/** One session: what was said, when, the sound, the picture, and everything that can be done with it. */
export function SessionDetail({ settings, location, leaf: given, onChange }: Props): ReactElement {
  const library = useMemo(() => openLibrary(settings), [settings]);
  const [leaf, setLeaf] = useState(given);
  const { view, isLoading, error, revalidate } = useSessionView(library, location, { leaf, picture: true });
  const { pop } = useNavigation();
  const changed = () => {
    // A change appends to the branch, so what is shown moves on with it.
    setLeaf(undefined);
    revalidate();
    onChange?.();
  };
  const deleted = () => {
    onChange?.();
    pop();
  };
  if (error !== undefined) {
    return <ProblemView problem={problemOf(error, { location })} handlers={{ retry: revalidate }} />;
  }
  if (view === undefined) return <Detail isLoading={isLoading} markdown="" />;
  const manage = (
    <ManageActions
      library={library}
      location={view.location}
      id={view.id}
      title={view.title}
      leaf={leaf}
      archived={view.kind === "readable" ? view.archived : null}
      recoverable={view.kind === "readable" ? needsRecovery(view) : view.recoverable}
      onChange={changed}
      onDelete={deleted}
    />
  );
  if (view.kind === "unreadable") {
    return (
      <Detail
        isLoading={isLoading}
        markdown={unreadableMarkdown(view)}
        metadata={<SessionMetadata view={view} />}
        actions={<ActionPanel>{manage}</ActionPanel>}
      />
    );
  }
  return (
    <Detail
      isLoading={isLoading}
      markdown={readableMarkdown(view)}
      metadata={<SessionMetadata view={view} />}
      actions={
        <ActionPanel>
          <ActionPanel.Section>
            {needsRecovery(view) ? (
              <Action
                title="Recover Session…"
                icon={Icon.BandAid}
                onAction={() => void recoverSession(library, view.location).then((done) => done && changed())}
              />
            ) : null}
            <Action
              title="Copy Transcript"
              icon={Icon.Clipboard}
              shortcut={Keyboard.Shortcut.Common.Copy}
              onAction={() => void copySession(library, settings, { location: view.location, title: view.title, leaf })}
            />
            <Action.Push
              title="Show Messages"
              icon={Icon.SpeechBubble}
              target={<MessageList settings={settings} location={view.location} leaf={leaf} onChange={changed} />}
            />
            {view.current ? null : (
              <Action title="Show Newest Branch" icon={Icon.ArrowDown} onAction={() => setLeaf(undefined)} />
            )}
            <Action.Push
              title="Show Branches"
              icon={Icon.Switch}
              target={<BranchList settings={settings} location={view.location} onSelect={setLeaf} />}
            />
            <Action
              title="Refresh"
              icon={Icon.ArrowClockwise}
              shortcut={Keyboard.Shortcut.Common.Refresh}
              onAction={revalidate}
            />
          </ActionPanel.Section>
          <RecordingActions settings={settings} view={view} onChange={changed} />
          {manage}
        </ActionPanel>
      }
    />
  );
}

type Readable = Extract<SessionView, { kind: "readable" }>;

function needsRecovery({ torn, transcript }: Readable): boolean {
  return torn || transcript.recordings.some((recording) => recording.state === "open");
}

function readableMarkdown(view: Readable): string {
  const picture =
    view.picture === null
      ? ""
      : `![Waveform, turns and gaps of this session](data:image/svg+xml;base64,${Buffer.from(view.picture).toString("base64")})`;
  const warnings = [
    ...(view.torn
      ? [
          warningMarkdown({
            code: "tail-pending",
            title: "The Last Line Is Not Complete",
            cause: "A write was interrupted.",
            remedy:
              "Everything before it is here; “Recover Session” keeps the fragment and makes the session writable.",
            action: { kind: "recover", location: view.location },
          }),
        ]
      : []),
    ...(view.transcript.recordings.some(({ state }) => state === "open")
      ? [
          warningMarkdown({
            code: "interrupted",
            title: "A Recording Did Not End",
            cause: "It still runs, or it was interrupted.",
            remedy: "The sound that was captured is on disk. “Recover Session” finishes it if it was interrupted.",
            action: { kind: "recover", location: view.location },
          }),
        ]
      : []),
    ...(view.transcript.recordings.some(({ state }) => state === "interrupted")
      ? [
          warningMarkdown({
            code: "interrupted",
            title: "A Recording Was Interrupted",
            cause: "It ended before it was stopped.",
            remedy: "The sound up to that moment is kept. “Transcribe Recording Again” finds words that are missing.",
            action: { kind: "transcribe-again", location: view.location },
          }),
        ]
      : []),
  ];
  return [`# ${plain(view.title)}`, ...warnings, picture, transcriptMarkdown(view)]
    .filter((piece) => piece !== "")
    .join("\n\n");
}

function unreadableMarkdown(view: Extract<SessionView, { kind: "unreadable" }>): string {
  const cause =
    view.verdict === "blocked"
      ? "The session holds something that this version does not know, so it is shown to nobody as if it were whole."
      : "The session's log is damaged.";
  const remedy = view.recoverable
    ? "“Recover Session” repairs it and keeps what it removes."
    : "Nothing is written to it. Its recordings and the entries before the damage are still in the folder.";
  const places = view.diagnostics.slice(0, 10).map(({ message, line, offset }) => {
    const at = [...(line === undefined ? [] : [`line ${line}`]), ...(offset === undefined ? [] : [`byte ${offset}`])];
    return `- ${plain(message)}${at.length === 0 ? "" : ` (${at.join(", ")})`}`;
  });
  return [`# This Session Is Read-Only`, cause, remedy, places.join("\n")].filter((piece) => piece !== "").join("\n\n");
}
