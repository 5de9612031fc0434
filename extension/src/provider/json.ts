import * as z from "zod";
import { parseJson } from "../capture/json-text";

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export interface JsonRecord {
  [key: string]: Json;
}

const record: z.ZodType<JsonRecord> = z.record(z.string(), z.json());

/** The object in a frame, or undefined when it is not a JSON object. */
export function parseJsonRecord(text: string): JsonRecord | undefined {
  return asRecord(parseJson(text));
}

/** The value as a JSON object. */
export function asRecord(value: unknown): JsonRecord | undefined {
  const parsed = record.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

export function isRecord(value: Json | undefined): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text under a key, or undefined when there is none. */
export function textAt(value: Json | undefined, key: string): string | undefined {
  const found = isRecord(value) ? value[key] : undefined;
  return typeof found === "string" ? found : undefined;
}

export function numberAt(value: Json | undefined, key: string): number | undefined {
  const found = isRecord(value) ? value[key] : undefined;
  return typeof found === "number" ? found : undefined;
}

export function recordAt(value: Json | undefined, key: string): JsonRecord | undefined {
  const found = isRecord(value) ? value[key] : undefined;
  return isRecord(found) ? found : undefined;
}
