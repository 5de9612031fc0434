import { readEntries } from "../../log/read-entries";
import { type LogIndex, scanLog } from "../../log/scan";
import { isProjectable } from "../../log/verdict";
import { type OpenFile } from "../../platform/fs";
import { historyPositions } from "../../session/history";
import { deriveLabel, foldMetadata, labelsOnBranch } from "../../session/info";
import { type StoreContext } from "../../session/store-context";
import { textOf } from "../../session/text";
import { type DiscoveredSession } from "../discover";
import { type QuickLog } from "../quick-read";
import { type LibraryDiagnostic } from "../types";
import { type SearchableSession, type SearchableText } from "./searchable";

/** Messages of a large log that are in memory at a time. */
const GROUP = 32;

/** What a search looks at in a log that was read at once. */
export function fromQuickLog(location: string, log: QuickLog): SearchableSession {
  const { header, leaf, label } = log;
  return { id: header.id, location, createdAt: header.timestamp, leaf, label, texts: quickTexts(log) };
}

function* quickTexts(log: QuickLog): Generator<SearchableText> {
  for (const entry of log.history()) yield { entryId: entry.id, field: "text", text: textOf(entry) };
  yield* labelTexts(log.branchLabels, log.label);
}

function* labelTexts(branchLabels: ReadonlyMap<string, string>, label: string): Generator<SearchableText> {
  for (const [entryId, text] of branchLabels) yield { entryId, field: "label", text };
  yield { entryId: null, field: "name", text: label };
}

/**
 * Opens a log of any size and hands over what a search looks at: the surviving text of the default branch, the labels
 * of entries, and the display label (Session file format, Roots and search). A log that may not be projected is
 * reported, and gives null. Bodies are read in groups, so that a large session costs no more memory than its index.
 */
export async function withSearchable<T>(
  found: DiscoveredSession,
  ctx: StoreContext,
  report: (diagnostic: LibraryDiagnostic) => void,
  signal: AbortSignal | undefined,
  body: (session: SearchableSession) => Promise<T>,
): Promise<T | null> {
  const file = await ctx.fs.open(found.logPath, "read");
  try {
    const log = await scanLog(file, signal === undefined ? {} : { signal });
    const { header, entries } = log;
    if (header === null || !isProjectable(log.verdict)) {
      report(notSearched(found, log));
      return null;
    }
    const leaf = entries.count - 1;
    const positions = historyPositions(entries, leaf);
    const about = await readEntries(file, entries, entries.positionsOf(["session_info", "label"]), signal);
    const metadata = foldMetadata(about, (id) => entries.has(id));
    const branchLabels = labelsOnBranch(metadata.labels, entries, leaf);
    const label = metadata.name ?? (await firstLabel(historyTexts(file, log, positions, signal)));
    async function* texts(): AsyncGenerator<SearchableText> {
      yield* historyTexts(file, log, positions, signal);
      yield* labelTexts(branchLabels, label);
    }
    const { location } = found;
    return await body({
      id: header.id,
      location,
      createdAt: header.timestamp,
      leaf: entries.lastId,
      label,
      texts: texts(),
    });
  } finally {
    await file.close();
  }
}

async function* historyTexts(
  file: OpenFile,
  log: LogIndex,
  positions: Int32Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<SearchableText> {
  for (let from = 0; from < positions.length; from += GROUP) {
    for (const entry of await readEntries(file, log.entries, positions.subarray(from, from + GROUP), signal)) {
      yield { entryId: entry.id, field: "text", text: textOf(entry) };
    }
  }
}

async function firstLabel(texts: AsyncIterable<SearchableText>): Promise<string> {
  for await (const { text } of texts) {
    const label = deriveLabel(text);
    if (label !== "") return label;
  }
  return "";
}

function notSearched(found: DiscoveredSession, log: LogIndex): LibraryDiagnostic {
  const [first] = log.diagnostics;
  return {
    code: `session-${log.verdict}`,
    message: `The session is ${log.verdict}, so its text is not searched.`,
    location: found.location,
    ...(found.id === null ? {} : { sessionId: found.id }),
    ...(first?.line === undefined ? {} : { line: first.line }),
    ...(first?.offset === undefined ? {} : { offset: first.offset }),
  };
}
