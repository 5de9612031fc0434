import { type Verdict } from "../log/verdict";

/** Something wrong that stands beside the results and hides none of them. Never holds text of messages. */
export interface LibraryDiagnostic {
  /** `root-missing`, `root-unreadable`, `session-unreadable`, `duplicate-id`, … (docs/search.md lists them). */
  code: string;
  message: string;
  /** The root or session that it is about. */
  location?: string;
  sessionId?: string;
  /** 1-based line of the log. */
  line?: number;
  /** Byte offset in the log. */
  offset?: number;
}

/** One session in a list. */
export interface SessionSummary {
  /** The id of the header; null when there is no readable header. */
  id: string | null;
  /** Canonical absolute path of the session's folder. */
  location: string;
  /** The header's timestamp as it is written there; null when there is no readable header. */
  createdAt: string | null;
  /** The display label: the session's name, else derived from the surviving text; empty when there is neither. */
  label: string;
  archived: boolean;
  verdict: Verdict | "unreadable";
  /** Surviving canonical and custom messages of the default branch. */
  messages: number;
  /** Length of all recordings together, as far as it is recorded. */
  durationMs: number;
  /** The number of recordings. */
  recordings: number;
  /** A recording was interrupted, or started and never ended. */
  interrupted: boolean;
}

export interface ListPage {
  /** Newest first. */
  sessions: SessionSummary[];
  diagnostics: LibraryDiagnostic[];
  /** Pass it on to get the next page; null at the end. */
  cursor: string | null;
}

/** A half-open range of UTF-16 code units. */
export interface TextRange {
  start: number;
  end: number;
}

/** Where in a session the text was found. */
export type MatchedField = "text" | "label" | "name";

/** One session that holds the text. It pins what was matched: location, file identity and leaf. */
export interface SearchHit {
  id: string;
  /** Canonical absolute path of the session's folder. */
  location: string;
  createdAt: string;
  /** The display label. */
  label: string;
  /** The default leaf at the time of the search; open the session with it to see what was matched. */
  leaf: string | null;
  /** The file that was searched; `Library.openHit` refuses another one in its place. */
  identity: string;
  /** The entry whose text or label matched first; null when only the session's own label did. */
  entryId: string | null;
  field: MatchedField;
  /** Text around the first match, cut at grapheme borders, `…` where something was left out. */
  excerpt: string;
  /** Every match inside the excerpt. */
  matches: TextRange[];
}

export interface SearchPage {
  /** Newest session first. */
  hits: SearchHit[];
  diagnostics: LibraryDiagnostic[];
  /** Pass it on to get the next page; null at the end. */
  cursor: string | null;
}
