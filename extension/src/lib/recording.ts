import path from "node:path";
import { environment } from "@raycast/api";
import {
  markAnnounced,
  readHostState,
  requestDiscard,
  requestRemove,
  requestStop,
  startHost,
  waitForEnd,
  watchHost,
  type HostOptions,
  type HostView,
} from "../host/client";
import { type HostState } from "../host/state";
import { captureHelper } from "./helper";
import { chosenDeviceUid } from "./microphone";
import { readOverrides } from "./overrides";
import { type Settings } from "./settings";

/** What is recorded, and into which session. */
export type RecordingTarget =
  | { kind: "microphone" }
  /** A WAV file into a new session. */
  | { kind: "file"; path: string }
  /** A recording of a session once more, into the same session. */
  | { kind: "again"; session: string; path: string };

/** The running recording as commands see it; one a machine. */
export interface Recordings {
  view(): Promise<HostView>;
  start(settings: Settings, target: RecordingTarget): Promise<HostState>;
  stop(): Promise<void>;
  discard(): Promise<void>;
  remove(entryId: string): Promise<void>;
  ended(signal?: AbortSignal): Promise<HostView>;
  watch(onChange: (view: HostView) => void): () => void;
  announced(): Promise<void>;
}

/** The recording of this extension. */
export function recordings(): Recordings {
  const { supportPath, assetsPath } = environment;
  return {
    view: () => readHostState(supportPath),
    start: async (settings, target) => {
      const { nodePath, hostPath } = readOverrides();
      const helper = await captureHelper(assetsPath);
      const source = await sourceOf(target);
      return startHost(
        { ...hostOptions(settings, target), source, helperPath: helper },
        {
          hostPath: hostPath ?? path.join(assetsPath, "session-host.cjs"),
          ...(nodePath === undefined ? {} : { nodePath }),
        },
      );
    },
    stop: () => requestStop(supportPath),
    discard: () => requestDiscard(supportPath),
    remove: (entryId) => requestRemove(supportPath, entryId),
    ended: (signal) => waitForEnd(supportPath, signal === undefined ? {} : { signal }),
    watch: (onChange) => watchHost(supportPath, onChange),
    announced: () => markAnnounced(supportPath),
  };
}

function hostOptions(settings: Settings, target: RecordingTarget): Omit<HostOptions, "source"> {
  const { provider, apiKey, language, vocabulary, writeRoot, maxDurationMs, silenceLimitMs } = settings;
  return {
    supportPath: environment.supportPath,
    root: writeRoot.path,
    provider,
    maxDurationMs,
    vocabulary,
    ...(target.kind === "again" ? { session: target.session } : {}),
    ...(apiKey === null ? {} : { apiKey }),
    ...(language === null ? {} : { language }),
    ...(silenceLimitMs === null ? {} : { silenceLimitMs }),
  };
}

async function sourceOf(target: RecordingTarget): Promise<HostOptions["source"]> {
  if (target.kind !== "microphone") return { kind: "file", path: target.path };
  const { sourcePath, sourcePace } = readOverrides();
  if (sourcePath === undefined) return { kind: "microphone", deviceUid: await chosenDeviceUid() };
  return { kind: "file", path: sourcePath, ...(sourcePace === undefined ? {} : { pace: sourcePace }) };
}
