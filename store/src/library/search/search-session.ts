import { type StoreContext } from "../../session/store-context";
import { openSession, type Session } from "../../session/session";
import { textOf } from "../../session/text";
import { identityOf, type DiscoveredSession } from "../discover";
import { type LibraryDiagnostic, type MatchedField, type SearchHit } from "../types";
import { type Excerpt, makeExcerpt } from "./excerpt";

interface Found {
  entryId: string | null;
  field: MatchedField;
  excerpt: Excerpt;
}

/**
 * Searches one session: the surviving text of the default branch, the labels of entries on it, and the display label
 * (Session file format, Roots and search). Null when nothing matches, or when the log may not be projected.
 */
export async function searchSession(
  found: DiscoveredSession,
  foldedNeedle: string,
  ctx: StoreContext,
  report: (diagnostic: LibraryDiagnostic) => void,
  signal?: AbortSignal,
): Promise<SearchHit | null> {
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
    const leaf = session.leaf;
    const info = await session.info(leaf);
    const match =
      (await matchText(session, leaf, foldedNeedle)) ??
      matchLabels(info.labels, foldedNeedle) ??
      matchName(info.label, foldedNeedle);
    if (match === null) return null;
    return {
      id: session.id,
      location: session.location,
      createdAt: session.createdAt,
      label: info.label,
      leaf,
      identity: identityOf(found.revision),
      entryId: match.entryId,
      field: match.field,
      ...match.excerpt,
    };
  } finally {
    await session.close();
  }
}

async function matchText(session: Session, leaf: string | null, foldedNeedle: string): Promise<Found | null> {
  for (const item of await session.history(leaf)) {
    const excerpt = makeExcerpt(textOf(item), foldedNeedle);
    if (excerpt !== null) return { entryId: item.id, field: "text", excerpt };
  }
  return null;
}

function matchLabels(labels: ReadonlyMap<string, string>, foldedNeedle: string): Found | null {
  for (const [entryId, label] of labels) {
    const excerpt = makeExcerpt(label, foldedNeedle);
    if (excerpt !== null) return { entryId, field: "label", excerpt };
  }
  return null;
}

function matchName(label: string, foldedNeedle: string): Found | null {
  const excerpt = makeExcerpt(label, foldedNeedle);
  return excerpt === null ? null : { entryId: null, field: "name", excerpt };
}
