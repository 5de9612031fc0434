import { closeSync, constants, openSync, readSync } from "node:fs";
import { isStoreError } from "../errors";
import { parseEntry } from "../format/codec";
import { type Entry, type MessageEntry } from "../format/schema";
import { isProjectable } from "../log/verdict";
import { openSession, type Session } from "../session/session";
import { type StoreContext } from "../session/store-context";
import { textOf } from "../session/text";
import { errnoOf, Slicer, type Candidate } from "./discover";
import { transcriptText } from "./transcript";
import { type LibraryDiagnostic } from "./types";

export interface LastTranscript {
  /** Open; the caller closes it. */
  session: Session;
  /** The last surviving canonical message with text. */
  entry: MessageEntry;
  /** The whole surviving text of the session, as it is copied. */
  text: string;
}

/** Records at the end of a log that are looked at to guess when its last message was. */
const TAIL_BYTES = 16 * 1024;
/** Coarse file times of some file systems. */
const FILE_TIME_SLACK_MS = 2000;

/**
 * The session whose last surviving canonical message is the newest of all. Ten thousand logs are not read for that: a
 * file that was last changed before the best message so far cannot hold a newer one, the tail of a log says when its
 * last message was, and only the newest by that are opened, until one is newer than what the rest can offer.
 */
export async function findLast(
  candidates: readonly Candidate[],
  ctx: StoreContext,
  report: (diagnostic: LibraryDiagnostic) => void,
  signal?: AbortSignal,
): Promise<LastTranscript | null> {
  const guesses = await guess(candidates, report, signal);
  let best: { session: Session; entry: MessageEntry } | null = null;
  for (const { candidate, atMs } of guesses) {
    if (best !== null && best.entry.message.timestamp >= atMs) break;
    const last = await lastMessage(candidate, ctx, report, signal);
    if (last === null) continue;
    if (best === null || last.entry.message.timestamp > best.entry.message.timestamp) {
      await best?.session.close();
      best = last;
    } else await last.session.close();
  }
  return best === null ? null : { ...best, text: await transcriptText(best.session) };
}

interface Guess {
  candidate: Candidate;
  /** Not before the session's last surviving message, as long as times in its log do not run backwards. */
  atMs: number;
}

async function guess(
  candidates: readonly Candidate[],
  report: (diagnostic: LibraryDiagnostic) => void,
  signal: AbortSignal | undefined,
): Promise<Guess[]> {
  const slicer = new Slicer(signal);
  const buffer = Buffer.allocUnsafe(TAIL_BYTES);
  const changedLast = [...candidates].sort((a, b) => b.revision.mtimeMs - a.revision.mtimeMs);
  const guesses: Guess[] = [];
  let newestMs = -Infinity;
  for (const candidate of changedLast) {
    const changedMs = candidate.revision.mtimeMs + FILE_TIME_SLACK_MS;
    // Only as long as file times are those of the writer: a message from after its file's last change shows that not.
    if (changedMs < newestMs) break;
    if (slicer.due) await slicer.turn();
    try {
      const tail = lastTimeInTail(candidate, buffer);
      if (tail === "none") continue;
      const atMs = tail ?? candidate.revision.mtimeMs;
      guesses.push({ candidate, atMs });
      if (atMs <= changedMs) newestMs = Math.max(newestMs, atMs);
    } catch (error) {
      report({
        code: "session-unreadable",
        message: `The session's log cannot be read (${errnoOf(error)}).`,
        location: candidate.location,
      });
    }
  }
  return guesses.sort((a, b) => b.atMs - a.atMs);
}

/**
 * The time of the last message in the tail of the log; without a message there, the time of the earliest record that
 * was looked at, which no earlier message is younger than. Undefined when the tail cannot be read as records, and
 * `none` when the whole log was seen and has no message.
 */
function lastTimeInTail({ logPath, revision }: Candidate, buffer: Buffer): number | "none" | undefined {
  const start = Math.max(0, revision.size - TAIL_BYTES);
  const descriptor = openSync(logPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  let tail: Buffer;
  try {
    tail = buffer.subarray(0, readSync(descriptor, buffer, 0, Math.min(revision.size, TAIL_BYTES), start));
  } finally {
    closeSync(descriptor);
  }
  let earliestMs: number | undefined;
  // What follows the last LF is a torn tail, and not committed.
  let end = tail.lastIndexOf(0x0a);
  while (end > 0) {
    const before = tail.lastIndexOf(0x0a, end - 1);
    // The first record of the file is the header; the first of a later window is cut.
    if (before === -1) return start === 0 ? "none" : earliestMs;
    const parsed = parseEntry(tail.subarray(before + 1, end));
    if (!parsed.ok) return undefined;
    const entry = parsed.value;
    if (isSpoken(entry)) return entry.message.timestamp;
    earliestMs = Date.parse(entry.timestamp);
    end = before;
  }
  return earliestMs;
}

async function lastMessage(
  candidate: Candidate,
  ctx: StoreContext,
  report: (diagnostic: LibraryDiagnostic) => void,
  signal: AbortSignal | undefined,
): Promise<{ session: Session; entry: MessageEntry } | null> {
  let session: Session | undefined;
  try {
    session = await openSession(candidate.location, ctx, signal === undefined ? {} : { signal });
    if (isProjectable(session.verdict)) {
      const entry = (await session.history()).findLast(isSpoken);
      if (entry !== undefined) {
        const opened = session;
        session = undefined;
        return { session: opened, entry };
      }
    }
    return null;
  } catch (error) {
    if (!isStoreError(error)) throw error;
    report({ code: error.code, message: error.message, location: candidate.location });
    return null;
  } finally {
    await session?.close();
  }
}

/** A canonical message with text of its own; tool results are answers to programs. */
function isSpoken(entry: Entry): entry is MessageEntry {
  return entry.type === "message" && entry.message.role !== "toolResult" && textOf(entry).trim() !== "";
}
