import { gapsOf, plainText, readTranscript } from "@persyk/store";
import { sessionTitle } from "./format";
import { openLibrary, readSettings, withSession } from "./store";
import { type Settings } from "./settings";

/** What the AI tools answer. They read, and that is all they can do. */

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 20;
/** A longer transcript is cut, and the answer says so. */
const MAX_CHARACTERS = 40_000;

export interface FoundSession {
  id: string | null;
  title: string;
  createdAt: string | null;
  excerpt: string;
}

export async function searchSessionsTool(input: {
  text: string;
  limit?: number;
}): Promise<{ sessions: FoundSession[]; more: boolean }> {
  const library = openLibrary(settingsOrThrow());
  const limit = Math.min(MAX_LIMIT, Math.max(1, Math.floor(input.limit ?? DEFAULT_LIMIT)));
  const text = input.text.trim();
  if (text === "") {
    const page = await library.list({ limit });
    const sessions = page.sessions.map(({ id, label, createdAt }) => ({
      id,
      title: sessionTitle(label, createdAt),
      createdAt,
      excerpt: "",
    }));
    return { sessions, more: page.cursor !== null };
  }
  const page = await library.search(text, { limit });
  const sessions = page.hits.map(({ id, label, createdAt, excerpt }) => ({
    id,
    title: sessionTitle(label, createdAt),
    createdAt,
    excerpt,
  }));
  return { sessions, more: page.cursor !== null };
}

export interface ReadTranscript {
  id: string;
  title: string;
  createdAt: string;
  transcript: string;
  /** Places where something was said and is not transcribed. */
  gaps: number;
  truncated: boolean;
}

export async function readTranscriptTool(input: { session: string }): Promise<ReadTranscript> {
  const library = openLibrary(settingsOrThrow());
  return withSession(library, input.session.trim(), async (session) => {
    const transcript = await readTranscript(session);
    const text = plainText(transcript.turns);
    return {
      id: session.id,
      title: sessionTitle(transcript.label, session.createdAt),
      createdAt: session.createdAt,
      transcript: text.slice(0, MAX_CHARACTERS),
      gaps: gapsOf(transcript.recordings).length,
      truncated: text.length > MAX_CHARACTERS,
    };
  });
}

function settingsOrThrow(): Settings {
  const parsed = readSettings();
  if (parsed.kind === "ok") return parsed.settings;
  throw new Error(`${parsed.problem.cause} ${parsed.problem.remedy}`);
}
