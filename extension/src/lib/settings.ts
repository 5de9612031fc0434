import os from "node:os";
import path from "node:path";
import { Library, type RootSetting } from "@persyk/store";
import * as z from "zod";
import { type ProviderSettings } from "../provider/settings";
import { type Problem } from "./problems";

/** The preferences, checked: everything else in the extension trusts them. */
export interface Settings {
  provider: ProviderSettings & { mode: "transcription" | "conversation" };
  /** Why this provider was chosen, when the choice is automatic. */
  automatic: boolean;
  apiKey: string | null;
  /** Two-letter code; null lets the provider detect it. */
  language: string | null;
  vocabulary: string[];
  writeRoot: RootSetting;
  additionalRoots: string[];
  eventLogRoots: string[];
  copyOnStop: boolean;
  concealedCopy: boolean;
  maxDurationMs: number;
  silenceLimitMs: number | null;
}

export type SettingsResult = { kind: "ok"; settings: Settings } | { kind: "invalid"; problem: Problem };

const text = z.string().trim().default("");
const preferences = z.object({
  provider: z.enum(["automatic", "openai", "compatible", "on-device", "none"]).default("automatic"),
  apiKey: text,
  endpoint: text,
  authStyle: z.enum(["bearer", "header", "query", "none"]).default("bearer"),
  authName: text,
  model: text,
  mode: z.enum(["transcription", "conversation"]).default("transcription"),
  language: text,
  vocabulary: text,
  sessionsDirectory: text,
  additionalDirectories: text,
  eventLogDirectories: text,
  copyOnStop: z.boolean().default(true),
  concealedCopy: z.boolean().default(false),
  maximumMinutes: text,
  silenceMinutes: text,
});
type Preferences = z.infer<typeof preferences>;

const DEFAULT_MAXIMUM_MINUTES = 120;
const MAXIMUM_MINUTES = 24 * 60;
const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;
const NAMES = { header: /^[A-Za-z0-9-]{1,64}$/, query: /^[A-Za-z0-9_-]{1,64}$/ } as const;

/** Reads the preferences as Raycast gives them. A wrong one is named with what it should be. */
export function parseSettings(values: unknown, options: { development?: boolean; home?: string } = {}): SettingsResult {
  const parsed = preferences.safeParse(values);
  if (!parsed.success) {
    const name = String(parsed.error.issues[0]?.path[0] ?? "");
    return invalid("preferences", `The preference "${name}" has a value that Persyk does not know.`);
  }
  const given = parsed.data;
  try {
    const home = options.home ?? os.homedir();
    const settings: Settings = {
      ...providerOf(given),
      apiKey: given.apiKey === "" ? null : given.apiKey,
      language: languageOf(given.language),
      vocabulary: listOf(given.vocabulary),
      writeRoot: rootOf(given.sessionsDirectory, home, options.development ?? false),
      additionalRoots: foldersOf("Additional Folders", given.additionalDirectories, home),
      eventLogRoots: foldersOf("Agent Session Folders", given.eventLogDirectories, home),
      copyOnStop: given.copyOnStop,
      concealedCopy: given.concealedCopy,
      maxDurationMs: minutesOf("Maximum Length", given.maximumMinutes) ?? DEFAULT_MAXIMUM_MINUTES * 60_000,
      silenceLimitMs: minutesOf("Silence Limit", given.silenceMinutes),
    };
    return { kind: "ok", settings };
  } catch (error) {
    if (error instanceof PreferenceError) return invalid("preferences", error.message);
    throw error;
  }
}

/**
 * What keeps a recording from starting with these settings. Reading, searching and copying work all the same, so the
 * other commands do not ask.
 */
export function recordingProblem({ provider, apiKey }: Settings): Problem | null {
  if (provider.kind === "openai" && apiKey === null) {
    return {
      code: "no-key",
      title: "No API Key",
      cause: "OpenAI needs an API key, and there is none in the preferences.",
      remedy: "Enter a key, or choose another transcription.",
      action: { kind: "open-preferences" },
    };
  }
  if (provider.kind === "compatible" && provider.endpoint === undefined) {
    return {
      code: "no-endpoint",
      title: "No Server URL",
      cause: "A compatible server was chosen, but its address is missing.",
      remedy: "Enter the server's WebSocket address, or choose another transcription.",
      action: { kind: "open-preferences" },
    };
  }
  if (provider.kind === "compatible" && apiKey === null && provider.authStyle !== "none") {
    return {
      code: "no-key",
      title: "No API Key",
      cause: "The compatible server is set to want a key, and there is none in the preferences.",
      remedy: "Enter the key, or set the authentication to None.",
      action: { kind: "open-preferences" },
    };
  }
  return null;
}

/** Where the sound goes, in one plain sentence that is shown before the first recording. */
export function describeProvider({ provider }: Settings): string {
  switch (provider.kind) {
    case "openai":
      return "Speech is sent to OpenAI for transcription.";
    case "compatible":
      return `Speech is sent to ${hostOf(provider.endpoint)} for transcription.`;
    case "on-device":
      return "Speech is transcribed on this Mac and is not sent anywhere.";
    case "none":
      return "Sound is recorded and not transcribed yet.";
  }
}

function hostOf(endpoint: string | undefined): string {
  return endpoint === undefined ? "the server" : new URL(endpoint).host;
}

class PreferenceError extends Error {}

function invalid(code: string, cause: string): SettingsResult {
  return {
    kind: "invalid",
    problem: {
      code,
      title: "Check the Preferences",
      cause,
      remedy: "Open the preferences and correct it.",
      action: { kind: "open-preferences" },
    },
  };
}

function providerOf(given: Preferences): Pick<Settings, "provider" | "automatic"> {
  const model = given.model === "" ? {} : { model: given.model };
  const mode = given.mode;
  switch (given.provider) {
    case "automatic":
      // Nothing leaves the Mac unless someone entered a key.
      return {
        automatic: true,
        provider: given.apiKey === "" ? { kind: "on-device", mode } : { kind: "openai", mode, ...model },
      };
    case "compatible": {
      const endpoint = given.endpoint === "" ? {} : { endpoint: endpointOf(given.endpoint) };
      return {
        automatic: false,
        provider: { kind: "compatible", mode, authStyle: authOf(given), ...endpoint, ...model },
      };
    }
    case "openai":
      return { automatic: false, provider: { kind: "openai", mode, ...model } };
    case "on-device":
    case "none":
      return { automatic: false, provider: { kind: given.provider, mode } };
  }
}

function endpointOf(given: string): string {
  if (!URL.canParse(given)) throw new PreferenceError(`The server URL "${given}" is not an address.`);
  const url = new URL(given);
  const schemes: Record<string, string> = { "ws:": "ws:", "wss:": "wss:", "http:": "ws:", "https:": "wss:" };
  const scheme = schemes[url.protocol];
  if (scheme === undefined) throw new PreferenceError("The server URL must begin with ws:// or wss://.");
  if (url.username !== "" || url.password !== "") {
    throw new PreferenceError("The server URL must not hold a password. Put it into the API key.");
  }
  return url.href.replace(url.protocol, scheme);
}

function authOf({ authStyle, authName }: Preferences): string {
  if (authStyle === "none" || authStyle === "bearer") return authStyle;
  if (!NAMES[authStyle].test(authName)) {
    throw new PreferenceError("The authentication needs the name of the header or query parameter.");
  }
  return `${authStyle}:${authName}`;
}

function languageOf(given: string): string | null {
  if (given === "") return null;
  if (!LANGUAGE.test(given)) throw new PreferenceError(`The language "${given}" is not a code such as en or pt-BR.`);
  return given;
}

function listOf(given: string): string[] {
  const terms = given.split(/[,\n]/).map((term) => term.trim());
  return [...new Set(terms.filter((term) => term !== ""))];
}

function rootOf(given: string, home: string, development: boolean): RootSetting {
  if (given === "") return Library.defaultRoot({ home, development });
  return { path: absolute("Sessions Folder", given, home), explicit: true };
}

function foldersOf(title: string, given: string, home: string): string[] {
  return listOf(given).map((folder) => absolute(title, folder, home));
}

function absolute(title: string, given: string, home: string): string {
  const folder = given === "~" || given.startsWith("~/") ? path.join(home, given.slice(1)) : given;
  if (!path.isAbsolute(folder)) throw new PreferenceError(`${title}: "${given}" is not an absolute path.`);
  return path.normalize(folder);
}

function minutesOf(title: string, given: string): number | null {
  if (given === "") return null;
  const minutes = Number(given);
  if (!Number.isFinite(minutes) || minutes <= 0 || minutes > MAXIMUM_MINUTES) {
    throw new PreferenceError(`${title}: "${given}" is not a number of minutes between 0 and ${MAXIMUM_MINUTES}.`);
  }
  return Math.round(minutes * 60_000);
}
