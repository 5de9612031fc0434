import { act } from "react";
import { type HostView } from "../../src/host/client";
import { type HostState } from "../../src/host/state";
import { type Recordings } from "../../src/lib/recording";

/** A recording a second after its start. */
export const base: HostState = {
  version: 1,
  instanceId: "i1",
  pid: 1,
  startedAt: new Date().toISOString(),
  processStart: "1",
  phase: "recording",
  session: { id: "s1", location: "/data/sessions/s1" },
  recordingId: "r1",
  elapsedMs: 1_000,
  device: "Built-in Microphone",
  levelDb: -20,
  provider: { name: "Local", state: "open" },
  warnings: [],
  saved: [],
  provisional: [],
};

/** A recording that a test moves by hand. */
export class Stage implements Recordings {
  #view: HostView = { kind: "none" };
  readonly #watchers = new Set<(view: HostView) => void>();
  readonly calls: string[] = [];
  failure: Error | null = null;

  show(view: HostView): Promise<void> {
    return act(async () => this.#move(view));
  }
  #move(view: HostView): void {
    this.#view = view;
    this.#watchers.forEach((watcher) => watcher(view));
  }
  /** What cannot be done, by the name of the call. */
  readonly failing = new Map<"view" | "stop" | "remove" | "announced", Error>();
  async #call(name: "view" | "stop" | "remove" | "announced", ...rest: string[]): Promise<void> {
    if (name !== "view") this.calls.push([name, ...rest].join(" "));
    const failure = this.failing.get(name);
    if (failure !== undefined) throw failure;
  }
  view = async () => {
    await this.#call("view");
    return this.#view;
  };
  /** What a start comes to. */
  started: HostState = base;
  start = async () => {
    this.calls.push("start");
    if (this.failure !== null) throw this.failure;
    this.#move({ kind: "live", state: { ...base, phase: "starting" } });
    return this.started;
  };
  stop = () => this.#call("stop");
  discard = async () => void this.calls.push("discard");
  remove = (entryId: string) => this.#call("remove", entryId);
  /** What a stopped recording comes to. */
  end: HostView | null = null;
  ended = async () => this.end ?? this.#view;
  announced = () => this.#call("announced");
  watch = (onChange: (view: HostView) => void) => {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  };
}
