import * as z from "zod";

/** Where and how to transcribe. Holds no secret. */
export const providerSettingsSchema = z.object({
  kind: z.enum(["openai", "compatible", "on-device", "none"]),
  /** Base URL of a compatible server, such as `ws://localhost:8000/v1/realtime`. */
  endpoint: z.string().optional(),
  /** `bearer`, `header:<name>`, `query:<name>` or `none`. */
  authStyle: z
    .string()
    .regex(/^(bearer|none|header:[A-Za-z0-9-]{1,64}|query:[A-Za-z0-9_-]{1,64})$/)
    .optional(),
  model: z.string().optional(),
  mode: z.enum(["transcription", "conversation"]).optional(),
  /** What the server takes; the recording itself is always 24 kHz. */
  sampleRate: z.union([z.literal(24_000), z.literal(16_000)]).optional(),
  /** Who finds the turns, where the model table does not know the model. */
  turnDetection: z.enum(["server", "none"]).optional(),
  /** Which query parameters name the session. */
  query: z.enum(["intent", "model", "both"]).optional(),
});

export type ProviderSettings = z.infer<typeof providerSettingsSchema>;
