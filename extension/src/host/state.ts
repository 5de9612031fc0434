/** What the session host says about itself, in one file that is replaced atomically. Holds no secret. */
import * as z from "zod";
import { providerSettingsSchema } from "../provider/settings";

const notice = z.object({
  code: z.string(),
  message: z.string(),
  remedy: z.string(),
  /** Where in the recording it was noticed, for a notice about the sound. */
  atMs: z.number().nonnegative().optional(),
});

export const hostPhases = ["starting", "recording", "finishing", "finished", "failed"] as const;

export const hostStateSchema = z.object({
  version: z.literal(1),
  phase: z.enum(hostPhases),
  instanceId: z.string(),
  pid: z.number().int().positive(),
  /** ISO 8601. */
  startedAt: z.string(),
  /** The system's start time of the process: with the pid it names one process for ever. */
  processStart: z.string(),
  session: z.object({ id: z.string(), location: z.string() }).optional(),
  recordingId: z.string().optional(),
  device: z.string().optional(),
  /** Peak in dBFS. */
  levelDb: z.number().optional(),
  elapsedMs: z.number().nonnegative(),
  provider: z.object({
    name: z.string(),
    state: z.enum(["off", "connecting", "open", "lost", "failed", "closed"]),
    detail: z.string().optional(),
  }),
  warnings: z.array(notice),
  /** Canonical messages: they are in the session file. */
  saved: z.array(z.object({ entryId: z.string(), role: z.enum(["user", "assistant"]), text: z.string() })),
  /** Not saved yet: it can neither be copied nor removed. */
  provisional: z.array(z.object({ itemId: z.string(), text: z.string() })),
  result: z
    .object({
      text: z.string(),
      entryIds: z.array(z.string()),
      outcome: z.enum(["complete", "incomplete", "interrupted", "discarded"]),
      announced: z.boolean(),
    })
    .optional(),
});

export type HostState = z.infer<typeof hostStateSchema>;
export type HostNotice = z.infer<typeof notice>;

export const hostRequestSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("stop") }),
  z.object({ kind: z.literal("discard") }),
  z.object({ kind: z.literal("remove"), entryId: z.string() }),
]);

export type HostRequest = z.infer<typeof hostRequestSchema>;

export const hostOptionsSchema = z.object({
  /** Folder of the state, the requests and the log; private to the user. */
  supportPath: z.string(),
  /** Absolute folder that new sessions go to. */
  root: z.string(),
  /** An existing session to record into. */
  session: z.string().optional(),
  source: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("microphone"), deviceUid: z.string().nullable() }),
    /** A file that lies in the session's own assets is transcribed again from where it is. */
    z.object({ kind: z.literal("file"), path: z.string(), pace: z.number().nonnegative().optional() }),
  ]),
  provider: providerSettingsSchema,
  maxDurationMs: z.number().positive(),
  /** Ends the recording after this long without sound above the floor. */
  silenceLimitMs: z.number().positive().optional(),
  language: z.string().optional(),
  vocabulary: z.array(z.string()).optional(),
  helperPath: z.string().optional(),
});

/** What a recording is asked to be. The key is kept apart: it never reaches a file that is not deleted on reading. */
export type HostOptions = z.infer<typeof hostOptionsSchema> & { apiKey?: string };
