import { openSession } from "../../session/session";
import { type StoreContext } from "../../session/store-context";
import { textOf } from "../../session/text";
import { type DiscoveredSession } from "../discover";
import { type QuickLog } from "../quick-read";
import { type LibraryDiagnostic } from "../types";
import { type SearchableSession, type SearchableText } from "./searchable";

/**
 * Reads what a search looks at in one session: the surviving text of the default branch, the labels of entries, and
 * the display label (Session file format, Roots and search). Null when the log may not be projected.
 */
export async function readSearchable(
  found: DiscoveredSession,
  ctx: StoreContext,
  log: QuickLog | null,
  report: (diagnostic: LibraryDiagnostic) => void,
  signal?: AbortSignal,
): Promise<SearchableSession | null> {
  if (log !== null) return fromQuickLog(found.location, log);
  const session = await openSession(found.location, ctx, signal === undefined ? {} : { signal });
  try {
    if (session.verdict === "blocked" || session.verdict === "corrupt") {
      const [first] = session.diagnostics;
      report({
        code: `session-${session.verdict}`,
        message: `The session is ${session.verdict}, so its text is not searched.`,
        location: found.location,
        ...(found.id === null ? {} : { sessionId: found.id }),
        ...(first?.line === undefined ? {} : { line: first.line }),
        ...(first?.offset === undefined ? {} : { offset: first.offset }),
      });
      return null;
    }
    const { id, location, createdAt, leaf } = session;
    const { label, branchLabels } = await session.info(leaf);
    const texts: SearchableText[] = [];
    for (const item of await session.history(leaf)) {
      const text = textOf(item);
      if (text !== "") texts.push({ entryId: item.id, field: "text", text });
    }
    for (const [entryId, text] of branchLabels) texts.push({ entryId, field: "label", text });
    texts.push({ entryId: null, field: "name", text: label });
    return { id, location, createdAt, leaf, label, texts, size: texts.reduce((sum, { text }) => sum + text.length, 0) };
  } finally {
    await session.close();
  }
}

function fromQuickLog(location: string, log: QuickLog): SearchableSession {
  const { header, leaf, label } = log;
  return { id: header.id, location, createdAt: header.timestamp, leaf, label, texts: textsOf(log), size: null };
}

function* textsOf(log: QuickLog): Generator<SearchableText> {
  for (const entry of log.history()) yield { entryId: entry.id, field: "text", text: textOf(entry) };
  for (const [entryId, text] of log.branchLabels) yield { entryId, field: "label", text };
  yield { entryId: null, field: "name", text: log.label };
}
