/** The shapes of an event log: Event-log backend, On-disk layout. */

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** A parsed JSON object whose members are not known yet. */
export type JsonRecord = { readonly [key: string]: unknown };

/** True for an object or array. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null;
}

/** The value as an object that is no array, else undefined. */
export function asObject(value: unknown): JsonRecord | undefined {
  return isRecord(value) && !Array.isArray(value) ? value : undefined;
}

/** The immutable first line of a log, without its `type` tag. */
export interface EventLogHeader {
  /** Format version; 0 is the only one that is read and written. */
  readonly version: number;
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  readonly cwd?: string;
  readonly parentSession?: string;
  /** Events that were copied from the parent session. */
  readonly seedLength?: number;
  readonly origin?: "subagent";
  /** 0 for a top-level session. */
  readonly delegationDepth: number;
  readonly agentPreset?: string;
}

/** What a caller gives to create a session; version and delegation depth default to 0. */
export type EventLogMeta = Omit<EventLogHeader, "version" | "delegationDepth"> & {
  readonly version?: number;
  readonly delegationDepth?: number;
};

/** How a message event joins the surface that a model sees. */
export type SurfaceOp = "append" | { readonly op: "replace"; readonly start: number; readonly end: number };

/** One event. `seq` of the n-th event of a log is n; `time` is in milliseconds since the Unix epoch. */
export interface LogEvent {
  readonly type: string;
  readonly seq: number;
  readonly time: number;
  readonly data: JsonValue;
  readonly surfaceOp?: SurfaceOp;
  readonly sourceEventSeqs?: readonly number[];
  readonly ignorable?: true;
}

/** How the lines of a log are stored. A root belongs to one of them. */
export type Compression = "zstd" | "none";

/** What a full read says beside the events: things that are worth knowing and do not reject the log. */
export interface LogWarning {
  readonly code: "invalid-utf8" | "damaged-tail" | "torn-tail" | "unterminated-line";
  readonly message: string;
  /** 1-based line of the log (the header is line 1). */
  readonly line?: number;
  /** Byte offset in the file. */
  readonly offset?: number;
}

/** One session as it is read: its header and its events. */
export interface LogView {
  readonly meta: EventLogHeader;
  readonly events: readonly LogEvent[];
  readonly warnings: readonly LogWarning[];
}
