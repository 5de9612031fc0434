import { type MatchedField, type SearchHit } from "../types";
import { makeExcerpt } from "./excerpt";

/** A piece of text of a session that a search looks at. */
export interface SearchableText {
  entryId: string | null;
  field: MatchedField;
  text: string;
}

/** What a search knows of one session: derived from its log, never written anywhere. */
export interface SearchableSession {
  id: string;
  location: string;
  createdAt: string;
  leaf: string | null;
  label: string;
  /** In the order they are tried: surviving text of the default branch, labels of entries, the display label. */
  texts: Iterable<SearchableText> | AsyncIterable<SearchableText>;
}

/** The first match in a session, as a hit; null when there is none. */
export async function matchSession(
  session: SearchableSession,
  foldedNeedle: string,
  identity: string,
): Promise<SearchHit | null> {
  const { id, location, createdAt, leaf, label } = session;
  for await (const { entryId, field, text } of session.texts) {
    const found = makeExcerpt(text, foldedNeedle);
    if (found !== null) return { id, location, createdAt, label, leaf, identity, entryId, field, ...found };
  }
  return null;
}
