import { toErrorDocument } from "../errors";
import { isProjectable } from "../log/verdict";
import { type StoreContext } from "../session/store-context";
import { type RecordingSummary } from "../session/recordings";
import { openSession } from "../session/session";
import { type DiscoveredSession } from "./discover";
import { type QuickReader } from "./quick-read";
import { type LibraryDiagnostic, type SessionSummary } from "./types";

/** Reads one session for a list. What is wrong with it becomes its verdict and a diagnostic, never a failure. */
export async function summarize(
  found: DiscoveredSession,
  ctx: StoreContext,
  quick: QuickReader,
  diagnostics: LibraryDiagnostic[],
  signal?: AbortSignal,
): Promise<SessionSummary> {
  const { id, location, createdAt } = found;
  const summary: SessionSummary = {
    id,
    location,
    createdAt,
    label: "",
    archived: false,
    verdict: "unreadable",
    messages: 0,
    durationMs: 0,
    recordings: 0,
    interrupted: false,
  };
  try {
    const facts = id === null ? null : quick.read(found);
    if (facts !== null) {
      const { label, archived, messages, recordings } = facts;
      return { ...summary, verdict: "valid", label, archived, messages, ...recordingFacts(recordings) };
    }
    const session = await openSession(location, ctx, signal === undefined ? {} : { signal });
    try {
      summary.verdict = session.verdict;
      for (const problem of session.diagnostics) {
        diagnostics.push({ ...problem, location, ...(id === null ? {} : { sessionId: id }) });
      }
      if (!isProjectable(session.verdict)) return summary;
      const info = await session.info();
      const recordings = await session.recordings();
      summary.label = info.label;
      summary.archived = info.archived;
      summary.messages = session.messageCount();
      return { ...summary, ...recordingFacts(recordings) };
    } finally {
      await session.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    const { code, message, line, offset } = toErrorDocument(error);
    diagnostics.push({
      code,
      message,
      location,
      ...(id === null ? {} : { sessionId: id }),
      ...(line === undefined ? {} : { line }),
      ...(offset === undefined ? {} : { offset }),
    });
    return summary;
  }
}

function recordingFacts(
  recordings: readonly RecordingSummary[],
): Pick<SessionSummary, "recordings" | "durationMs" | "interrupted"> {
  return {
    recordings: recordings.length,
    durationMs: recordings.reduce((sum, recording) => sum + (recording.durationMs ?? 0), 0),
    interrupted: recordings.some((recording) => recording.state !== "finished"),
  };
}
