/**
 * The messages of `capture/1`: one helper process per recording, JSON lines on its standard input and output, the
 * samples only in the file on descriptor 3. Unknown fields are ignored both ways; unknown event types are reported as
 * such and change nothing.
 */
import * as z from "zod";

export const CAPTURE_PROTOCOL_VERSION = 1;
/** Longest line either side may send, in bytes without its LF. */
export const MAX_LINE_BYTES = 64 * 1024;
/** Where the samples start in the WAV that the helper writes. */
export const DATA_OFFSET = 44;
export const SAMPLE_RATE = 24_000;
export const BYTES_PER_FRAME = 2;
export const BYTES_PER_MS = (SAMPLE_RATE * BYTES_PER_FRAME) / 1_000;

const count = z.number().int().nonnegative().safe();
export const captureDeviceSchema = z.object({
  /** CoreAudio's device UID: the same after a restart and at another port. */
  uid: z.string(),
  name: z.string(),
  transport: z.string().optional(),
  rate: z.number().optional(),
  channels: z.number().int().optional(),
});
const permission = z.enum(["undetermined", "granted", "denied", "restricted"]);

export type CaptureDevice = z.infer<typeof captureDeviceSchema>;
export type CapturePermission = z.infer<typeof permission>;

const base = { v: z.literal(CAPTURE_PROTOCOL_VERSION), seq: count, t: z.number().nonnegative() };

const known = z.discriminatedUnion("type", [
  z.object({
    ...base,
    type: z.literal("ready"),
    helper: z.string(),
    os: z.string().optional(),
    arch: z.string().optional(),
    pid: count.optional(),
    permission: permission.optional(),
    device: captureDeviceSchema.nullish(),
    format: z.object({ encoding: z.literal("pcm_s16le"), rate: z.literal(SAMPLE_RATE), channels: z.literal(1) }),
    dataOffset: z.literal(DATA_OFFSET),
  }),
  z.object({ ...base, type: z.literal("permission"), status: permission }),
  z.object({
    ...base,
    type: z.literal("started"),
    id: z.string().optional(),
    wallTime: z.string().optional(),
    offset: count,
    device: captureDeviceSchema.nullish(),
  }),
  z.object({ ...base, type: z.literal("chunk"), offset: count, bytes: count, captureMs: z.number().nonnegative() }),
  z.object({
    ...base,
    type: z.literal("level"),
    peakDb: z.number().nullable(),
    rmsDb: z.number().nullish(),
    zero: z.boolean().optional(),
  }),
  z.object({
    ...base,
    type: z.literal("gap"),
    atOffset: count,
    durationMs: z.number().nonnegative(),
    reason: z.string(),
  }),
  z.object({ ...base, type: z.literal("device"), change: z.string(), device: captureDeviceSchema.nullish() }),
  z.object({
    ...base,
    type: z.literal("warning"),
    code: z.string(),
    /** Where in the WAV it was decided, for a warning about the sound. */
    atOffset: count.optional(),
    message: z.string().optional(),
  }),
  z.object({ ...base, type: z.literal("synced"), dataBytes: count }),
  z.object({ ...base, type: z.literal("result"), id: z.string(), ok: z.boolean(), code: z.string().optional() }),
  z.object({ ...base, type: z.literal("finishing"), reason: z.string() }),
  z.object({
    ...base,
    type: z.literal("finished"),
    reason: z.string(),
    dataBytes: count,
    frames: count,
    durationMs: z.number().nonnegative(),
    overrunFrames: count.optional(),
  }),
  z.object({
    ...base,
    type: z.literal("error"),
    code: z.string(),
    fatal: z.boolean(),
    osStatus: z.number().nullish(),
    errno: z.number().nullish(),
    message: z.string().optional(),
  }),
]);

export type CaptureEvent = z.infer<typeof known>;
export type CaptureEventOf<Type extends CaptureEvent["type"]> = Extract<CaptureEvent, { type: Type }>;

export type CaptureCommand =
  | {
      type: "configure";
      id: string;
      /** Null follows the system's default input. */
      deviceUid: string | null;
      channel?: number;
      chunkMs?: number;
      syncMs?: number;
      tailMs?: number;
      maxDurationMs?: number;
      minFreeBytes?: number;
      startTimeoutMs?: number;
    }
  | { type: "start"; id: string }
  | { type: "setDevice"; id: string; deviceUid: string | null }
  | { type: "stop"; id: string; tailMs?: number }
  | { type: "ping"; id: string };

export const commandSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("configure"),
    id: z.string(),
    deviceUid: z.string().nullable().default(null),
    channel: count.optional(),
    chunkMs: z.number().int().min(20).max(500).default(100),
    syncMs: z.number().int().min(50).default(1_000),
    tailMs: count.default(250),
    maxDurationMs: z.number().positive().optional(),
    minFreeBytes: count.default(200 * 1024 * 1024),
    startTimeoutMs: z.number().positive().optional(),
  }),
  z.object({ type: z.literal("start"), id: z.string() }),
  z.object({ type: z.literal("setDevice"), id: z.string(), deviceUid: z.string().nullable() }),
  z.object({ type: z.literal("stop"), id: z.string(), tailMs: count.optional() }),
  z.object({ type: z.literal("ping"), id: z.string() }),
]);

export type ParsedLine =
  | { kind: "event"; event: CaptureEvent }
  /** A type that this version does not know. */
  | { kind: "unknown"; type: string }
  /** Not a line of this protocol; the text is not kept. */
  | { kind: "invalid"; detail: string };

const envelope = z.object({ v: z.number(), type: z.string() });
const knownTypes: ReadonlySet<string> = new Set(known.options.map((option) => option.shape.type.value));

/** Reads one line of the helper's output. Never throws. */
export function parseEventLine(line: string): ParsedLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { kind: "invalid", detail: "not JSON" };
  }
  const outer = envelope.safeParse(value);
  if (!outer.success) return { kind: "invalid", detail: "not an event" };
  if (outer.data.v !== CAPTURE_PROTOCOL_VERSION) return { kind: "invalid", detail: `version ${outer.data.v}` };
  if (!knownTypes.has(outer.data.type)) return { kind: "unknown", type: outer.data.type.slice(0, 64) };
  const parsed = known.safeParse(value);
  if (parsed.success) return { kind: "event", event: parsed.data };
  const at = parsed.error.issues[0]?.path.join(".") ?? "";
  return { kind: "invalid", detail: `${outer.data.type}: field ${at}` };
}

export function encodeLine(message: object): string {
  return `${JSON.stringify(message)}\n`;
}

/** The helper's exit codes, in words that name cause and remedy. */
export const exitMeanings: ReadonlyMap<number, { code: string; message: string; remedy: string }> = new Map([
  [
    64,
    { code: "capture-usage", message: "The capture helper refused its arguments.", remedy: "Reinstall the extension." },
  ],
  [
    65,
    {
      code: "capture-protocol",
      message: "The capture helper and the extension do not fit.",
      remedy: "Reinstall the extension.",
    },
  ],
  [
    66,
    {
      code: "asset-invalid",
      message: "The recording's file was not usable.",
      remedy: "Check the sessions folder, then record again.",
    },
  ],
  [
    69,
    {
      code: "no-input-device",
      message: "No usable input device was found.",
      remedy: "Connect a microphone or choose another input.",
    },
  ],
  [
    70,
    {
      code: "capture-internal",
      message: "The capture helper failed.",
      remedy: "Record again; report it if it happens again.",
    },
  ],
  [
    74,
    {
      code: "write-failed",
      message: "The recording could not be written.",
      remedy: "Check the free space and the disk.",
    },
  ],
  [
    75,
    {
      code: "asset-locked",
      message: "Another capture holds this recording.",
      remedy: "Stop the other recording first.",
    },
  ],
  [
    77,
    {
      code: "permission-denied",
      message: "Microphone access is not allowed.",
      remedy: "Allow Raycast in System Settings → Privacy & Security → Microphone.",
    },
  ],
]);
