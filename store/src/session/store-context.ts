import { randomUUID } from "node:crypto";
import { systemClock, type Clock } from "../clock";
import { systemCaptureLock, type CaptureLock } from "../lock/capture-lock";
import { LayeredLock, type SessionLock } from "../lock/session-lock";
import { nodeFileSystem, type FileSystem } from "../platform/fs";

/** Everything that the store takes from its surroundings; tests replace single members. */
export interface StoreContext {
  readonly clock: Clock;
  /** A new collision-resistant id of the session format's pattern. */
  newId(): string;
  readonly lock: SessionLock;
  readonly captureLock: CaptureLock;
  readonly fs: FileSystem;
}

let shared: StoreContext | undefined;

/** The real surroundings: the system's clock, file system and locks. One for the process, with its open lock files. */
export function defaultStoreContext(overrides: Partial<StoreContext> = {}): StoreContext {
  shared ??= {
    clock: systemClock,
    newId: randomUUID,
    lock: new LayeredLock(),
    captureLock: systemCaptureLock,
    fs: nodeFileSystem,
  };
  return { ...shared, ...overrides };
}
