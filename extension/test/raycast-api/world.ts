import { EventEmitter } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Alert, Clipboard, Toast, launchCommand } from "@raycast/api";

type LaunchOptions = Parameters<typeof launchCommand>[0];

/** What the double needs to know of the manifest: commands, preferences and their defaults. */
export interface Manifest {
  name: string;
  author: string;
  commands: { name: string; mode: "view" | "no-view" | "menu-bar"; preferences?: ManifestPreference[] }[];
  preferences: ManifestPreference[];
  tools: { name: string }[];
}

export interface ManifestPreference {
  name: string;
  type: string;
  required: boolean;
  default?: unknown;
}

/** Everything outside the extension that a command can see or change, as one test sees it. */
export interface World {
  readonly manifest: Manifest;
  readonly events: EventEmitter;
  preferences: Record<string, unknown>;
  environment: {
    raycastVersion: string;
    ownerOrAuthorName: string;
    extensionName: string;
    commandName: string;
    commandMode: "no-view" | "view" | "menu-bar";
    assetsPath: string;
    supportPath: string;
    isDevelopment: boolean;
    appearance: "light" | "dark";
    textSize: "medium" | "large";
    launchType: "userInitiated" | "background";
    theme: "light" | "dark";
  };
  /** Newest first, as the clipboard history has it. */
  clipboard: { content: Clipboard.Content; concealed: boolean; transient: boolean }[];
  toasts: Toast[];
  huds: string[];
  windowClosed: boolean;
  /** Answers to confirmation dialogs, in order; a dialog without an answer fails the test. */
  answers: boolean[];
  alerts: Alert.Options[];
  launches: LaunchOptions[];
  /** Commands that the user has disabled. */
  disabledCommands: Set<string>;
  /** Targets of `open`, `showInFinder`, `openExtensionPreferences`, quick look and the trash, in order. */
  opened: { how: "open" | "finder" | "preferences" | "quick-look" | "trash"; target: string }[];
  subtitle: string | null;
  localStorage: Map<string, string | number | boolean>;
  poppedToRoot: number;
}

export function createWorld(options: { manifestPath?: string; supportPath?: string; assetsPath?: string } = {}): World {
  const manifestPath = options.manifestPath ?? path.join(__dirname, "../../package.json");
  const manifest = readManifest(manifestPath);
  const supportPath = options.supportPath ?? path.join(os.tmpdir(), `persyk-raycast-${process.pid}`);
  mkdirSync(supportPath, { recursive: true });
  return {
    manifest,
    events: new EventEmitter(),
    preferences: {},
    environment: {
      raycastVersion: "1.104.25",
      ownerOrAuthorName: manifest.author,
      extensionName: manifest.name,
      commandName: "search-sessions",
      commandMode: "view",
      assetsPath: options.assetsPath ?? path.join(path.dirname(manifestPath), "assets"),
      supportPath,
      isDevelopment: false,
      appearance: "light",
      textSize: "medium",
      launchType: "userInitiated",
      theme: "light",
    },
    clipboard: [],
    toasts: [],
    huds: [],
    windowClosed: false,
    answers: [],
    alerts: [],
    launches: [],
    disabledCommands: new Set(),
    opened: [],
    subtitle: null,
    localStorage: new Map(),
    poppedToRoot: 0,
  };
}

function readManifest(manifestPath: string): Manifest {
  const parsed: Manifest = JSON.parse(readFileSync(manifestPath, "utf8"));
  return { ...parsed, commands: parsed.commands, preferences: parsed.preferences ?? [], tools: parsed.tools ?? [] };
}

let current: World | null = null;

/** The world that the double acts on. */
export function world(): World {
  current ??= createWorld();
  return current;
}

/** Gives the double a new world; tests call it before each command. */
export function resetWorld(options: Parameters<typeof createWorld>[0] = {}): World {
  current = createWorld(options);
  return current;
}

/** Sets the command that runs, as the launch of a command does. */
export function enterCommand(name: string, launchType: "userInitiated" | "background" = "userInitiated"): void {
  const { manifest, environment } = world();
  const command = manifest.commands.find((candidate) => candidate.name === name);
  if (command === undefined) throw new Error(`The manifest has no command ${name}.`);
  environment.commandName = name;
  environment.commandMode = command.mode;
  environment.launchType = launchType;
}

/** Tells waiting tests that something was seen. */
export function changed(): void {
  world().events.emit("change");
}
