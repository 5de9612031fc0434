import { describeProvider, parseSettings, recordingProblem, type Settings } from "../../src/lib/settings";
import { getPreferenceValues } from "../raycast-api";
import { resetWorld, world } from "../raycast-api/world";

function settingsOf(values: Record<string, unknown>): Settings {
  const parsed = parseSettings(values, { home: "/Users/me" });
  if (parsed.kind === "invalid") throw new Error(parsed.problem.cause);
  return parsed.settings;
}

function causeOf(values: Record<string, unknown>): string {
  const parsed = parseSettings(values);
  if (parsed.kind === "ok") throw new Error("These preferences were accepted.");
  expect(parsed.problem.action).toEqual({ kind: "open-preferences" });
  return parsed.problem.cause;
}

test("the manifest's own defaults are valid and send nothing anywhere", () => {
  resetWorld();
  const settings = settingsOf(getPreferenceValues());
  expect(settings.provider.kind).toBe("on-device");
  expect(settings.copyOnStop).toBe(true);
  expect(settings.concealedCopy).toBe(false);
  expect(settings.maxDurationMs).toBe(120 * 60_000);
  expect(settings.silenceLimitMs).toBeNull();
  expect(settings.writeRoot).toEqual({ path: "/Users/me/Documents/persyk/sessions", explicit: false });
  expect(recordingProblem(settings)).toBeNull();
  expect(describeProvider(settings)).toContain("not sent anywhere");
});

test("in development, sessions go to a root of their own", () => {
  const parsed = parseSettings({}, { home: "/Users/me", development: true });
  expect(parsed).toMatchObject({
    settings: { writeRoot: { path: "/Users/me/Documents/persyk-dev/sessions", explicit: false } },
  });
});

test("automatic uses OpenAI only when there is a key", () => {
  expect(settingsOf({ provider: "automatic", apiKey: "sk-1" }).provider.kind).toBe("openai");
  expect(settingsOf({ provider: "automatic", apiKey: "  " }).provider.kind).toBe("on-device");
});

test("a provider without what it needs cannot record, and says which preference mends it", () => {
  expect(recordingProblem(settingsOf({ provider: "openai" }))).toMatchObject({ code: "no-key" });
  expect(recordingProblem(settingsOf({ provider: "compatible" }))).toMatchObject({ code: "no-endpoint" });
  const server = { provider: "compatible", endpoint: "ws://localhost:1/v1/realtime" };
  expect(recordingProblem(settingsOf(server))).toMatchObject({ code: "no-key" });
  expect(recordingProblem(settingsOf({ ...server, authStyle: "none" }))).toBeNull();
  expect(recordingProblem(settingsOf({ ...server, apiKey: "k" }))).toBeNull();
  expect(recordingProblem(settingsOf({ provider: "none" }))).toBeNull();
});

test.each([
  ["wss://host/v1/realtime", "wss://host/v1/realtime"],
  ["https://host/v1/realtime", "wss://host/v1/realtime"],
  ["http://127.0.0.1:8000", "ws://127.0.0.1:8000/"],
])("the server URL %s is used as %s", (endpoint, used) => {
  expect(settingsOf({ provider: "compatible", endpoint }).provider.endpoint).toBe(used);
});

test("the authentication carries the name of its header or parameter", () => {
  const named = { provider: "compatible", authStyle: "header", authName: "x-api-key" };
  expect(settingsOf(named).provider.authStyle).toBe("header:x-api-key");
  expect(settingsOf({ ...named, authStyle: "query", authName: "api_key" }).provider.authStyle).toBe("query:api_key");
  expect(causeOf({ ...named, authName: "" })).toContain("name of the header");
  expect(causeOf({ ...named, authName: "bad\r\nname" })).toContain("name of the header");
});

test("folders are absolute, and ~ is the home folder", () => {
  const settings = settingsOf({
    sessionsDirectory: "/data/sessions/",
    additionalDirectories: "~/old, /data/more",
    eventLogDirectories: "~",
  });
  expect(settings.writeRoot).toEqual({ path: "/data/sessions/", explicit: true });
  expect(settings.additionalRoots).toEqual(["/Users/me/old", "/data/more"]);
  expect(settings.eventLogRoots).toEqual(["/Users/me"]);
  expect(causeOf({ additionalDirectories: "relative/folder" })).toContain("Additional Folders");
});

test("lists are split, trimmed and free of repeats", () => {
  expect(settingsOf({ vocabulary: " Persyk,Raycast ,, Persyk" }).vocabulary).toEqual(["Persyk", "Raycast"]);
});

test.each([
  [{ endpoint: "not a url", provider: "compatible" }, "is not an address"],
  [{ endpoint: "ftp://host", provider: "compatible" }, "ws:// or wss://"],
  [{ endpoint: "wss://user:secret@host", provider: "compatible" }, "must not hold a password"],
  [{ language: "english please" }, "not a code"],
  [{ maximumMinutes: "-1" }, "Maximum Length"],
  [{ maximumMinutes: "soon" }, "Maximum Length"],
  [{ silenceMinutes: "1e9" }, "Silence Limit"],
  [{ provider: "carrier pigeon" }, '"provider"'],
  [{ copyOnStop: "yes" }, '"copyOnStop"'],
])("%j is refused with the preference's name", (values, cause) => {
  expect(causeOf(values)).toContain(cause);
});

test("no problem ever shows the key", () => {
  const parsed = parseSettings({ apiKey: "sk-very-secret", provider: "compatible", endpoint: "nonsense" });
  expect(JSON.stringify(parsed)).not.toContain("sk-very-secret");
});

test("every preference that the manifest declares is read", () => {
  resetWorld();
  const declared = world().manifest.preferences.map(({ name }) => name);
  const wrong = declared.filter((name) => parseSettings({ [name]: { not: "a value" } }).kind === "ok");
  expect(wrong).toEqual([]);
});
