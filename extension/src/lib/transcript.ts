import {
  exportSession,
  gapsOf,
  placeOf,
  readTranscript,
  speakerOf,
  type Library,
  type Session,
  type Transcript,
} from "@persyk/store";
import { clockTime, sessionTitle, spokenLength } from "./format";
import { plain } from "./markdown";
import { withSession } from "./store";
import { unendedSoundMs } from "./unended-sound";

/** A session as the detail shows it. */
export type SessionView =
  | {
      kind: "readable";
      location: string;
      id: string;
      title: string;
      createdAt: string;
      named: string | null;
      archived: boolean;
      torn: boolean;
      transcript: Transcript;
      /** The length of all recordings, also those that have not ended. */
      recordedMs: number;
      /** Notes by the entry that they are about. */
      labels: ReadonlyMap<string, string>;
      /** The picture as SVG; null when there is nothing to draw. */
      picture: string | null;
      /** The leaf that is shown, and whether it is still the newest. */
      leaf: string | null;
      current: boolean;
    }
  | {
      kind: "unreadable";
      location: string;
      id: string;
      createdAt: string;
      title: string;
      verdict: "blocked" | "corrupt";
      recoverable: boolean;
      entryCount: number;
      diagnostics: Session["diagnostics"];
    };

export interface ViewOptions {
  /** The leaf that a search found; the newest when absent. */
  leaf?: string | null | undefined;
  picture?: boolean;
  signal?: AbortSignal | undefined;
}

/** Reads a session for the detail. Never writes. */
export function loadSession(library: Library, idOrLocation: string, options: ViewOptions = {}): Promise<SessionView> {
  const { signal } = options;
  return withSession(
    library,
    idOrLocation,
    (session) => viewOf(session, options),
    signal === undefined ? {} : { signal },
  );
}

async function viewOf(session: Session, options: ViewOptions): Promise<SessionView> {
  const { id, location, createdAt, verdict, diagnostics, entryCount } = session;
  if (verdict === "blocked" || verdict === "corrupt") {
    const recoverable = session.recoverable !== "no";
    const title = sessionTitle("", createdAt);
    return { kind: "unreadable", location, id, createdAt, title, verdict, recoverable, entryCount, diagnostics };
  }
  const leaf = options.leaf === undefined ? session.leaf : options.leaf;
  const transcript = await readTranscript(session, leaf);
  const info = await session.info(leaf);
  const drawn = options.picture === true && transcript.recordings.length > 0;
  return {
    kind: "readable",
    location,
    id,
    createdAt,
    title: sessionTitle(info.label, createdAt),
    named: info.name ?? null,
    archived: info.archived,
    torn: verdict === "tail-pending",
    transcript,
    recordedMs:
      transcript.recordings.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0) +
      (await unendedSoundMs(session)),
    labels: info.labels,
    picture: drawn ? await exportSession(session, "svg", { leaf }) : null,
    leaf,
    current: leaf === session.leaf,
  };
}

/** The transcript as Markdown: who said what when, with the gaps in their places. Times stand only where they are known. */
export function transcriptMarkdown({ transcript, labels }: Extract<SessionView, { kind: "readable" }>): string {
  const { turns, recordings } = transcript;
  const spoken = turns.filter((turn) => turn.text.trim() !== "");
  const speakers = new Set(spoken.map((turn) => turn.role));
  const pieces: { atMs: number | null; text: string }[] = spoken.map((turn) => {
    const place = placeOf(turn, recordings);
    const head = [
      ...(place === null ? [] : [`\`${clockTime(place.startMs)}\``]),
      ...(speakers.size > 1 ? [`**${speakerOf(turn.role)}**`] : []),
    ].join(" ");
    const label = labels.get(turn.entryId);
    const note = label === undefined ? "" : `\n\n> Label: ${plain(label)}`;
    return {
      atMs: place?.startMs ?? null,
      text: `${head === "" ? "" : `${head}  \n`}${plain(turn.text.trim())}${note}`,
    };
  });
  const offsets = new Map(recordings.map((recording) => [recording.recordingId, recording.offsetMs]));
  for (const gap of gapsOf(recordings)) {
    const startMs = gap.startMs === undefined ? null : (offsets.get(gap.recordingId) ?? 0) + gap.startMs;
    const length =
      gap.startMs === undefined || gap.endMs === undefined ? "" : `, ${spokenLength(gap.endMs - gap.startMs)}`;
    const text = `*— Gap${length}: ${plain(gapReason(gap.reason))} —*`;
    insert(pieces, { atMs: startMs, text: startMs === null ? text : `\`${clockTime(startMs)}\` ${text}` });
  }
  return pieces.length === 0 ? "*No words yet.*" : pieces.map((piece) => piece.text).join("\n\n");
}

/** A gap goes before the first turn that begins after it; the order of the turns is never touched. */
function insert(pieces: { atMs: number | null; text: string }[], gap: { atMs: number | null; text: string }): void {
  const { atMs } = gap;
  const before = atMs === null ? -1 : pieces.findIndex((piece) => piece.atMs !== null && piece.atMs > atMs);
  if (before === -1) pieces.push(gap);
  else pieces.splice(before, 0, gap);
}

/** The reason of a gap in words; the session's own word where there is no better one. */
export function gapReason(reason: string): string {
  return gapReasons[reason] ?? reason.replace(/[-_]/g, " ");
}

const gapReasons: Readonly<Record<string, string>> = {
  transcription_failed: "not transcribed",
  connection_closed: "the connection was lost",
  provider_lost: "the connection was lost",
  "device-changed": "the microphone changed",
  sleep: "the Mac slept",
};
