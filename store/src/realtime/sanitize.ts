/**
 * One pass over a frame before anything of it is kept: secrets out, their JSON Pointers noted, media taken out
 * (Session file format, Realtime retention). Iterative, since a provider's frame may be nested without limit.
 */
import { isObject, type JsonObject, type JsonValue } from "../format/schema";
import { decodeBase64 } from "./base64";
import { isScalarText } from "./fields";
import { isSecretKey, REDACTED, redactText } from "./secrets";

export interface FrameMedia {
  /** JSON Pointer of the member in the frame; the sanitized frame has null there. */
  pointer: string;
  bytes: Buffer;
}

export interface SanitizedFrame {
  frame: JsonObject;
  /** JSON Pointers of what was redacted, in the order of the frame. */
  redactions: string[];
  media: FrameMedia[];
  /** Nested containers, the frame counted as 1. */
  depth: number;
  /** Every key and string is Unicode scalar text, every number finite: fit for a record. */
  isRecordable: boolean;
}

/** Spoken or written content: never changed, whatever it says. */
const TEXT_KEYS: ReadonlySet<string> = new Set([
  "text",
  "transcript",
  "delta",
  "stash",
  "instructions",
  "arguments",
  "output",
  "content",
  "prompt",
  "refusal",
]);
const AUDIO_DELTAS: ReadonlySet<unknown> = new Set(["response.output_audio.delta", "response.audio.delta"]);

interface Visit {
  source: JsonObject | JsonValue[];
  target: JsonObject | JsonValue[];
  pointer: string;
  depth: number;
  /** Every value below is a secret, whatever its name: headers of a tool. */
  allSecret: boolean;
}

/** Sanitizes one frame. `takeMedia` false leaves audio in place. */
export function sanitizeFrame(source: JsonObject, takeMedia = true): SanitizedFrame {
  const result: SanitizedFrame = { frame: {}, redactions: [], media: [], depth: 1, isRecordable: true };
  const hasAudioDelta = AUDIO_DELTAS.has(source.type);
  const stack: Visit[] = [{ source, target: result.frame, pointer: "", depth: 1, allSecret: false }];
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const { source: container, target, pointer, depth, allSecret } = visit;
    result.depth = Math.max(result.depth, depth);
    const isLogprob = !Array.isArray(container) && Object.hasOwn(container, "logprob");
    for (const [key, value] of Object.entries(container)) {
      const safeKey = Array.isArray(container) ? key : redactText(key);
      const at = `${pointer}/${safeKey.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      if (safeKey !== key) result.redactions.push(at);
      if (!isScalarText(key)) result.isRecordable = false;
      const isSecret = allSecret || (isSecretKey(key) && !(isLogprob && key === "token"));
      if (isSecret && value !== null && value !== "" && !(allSecret && isContainer(value))) {
        result.redactions.push(at);
        put(target, safeKey, REDACTED);
      } else if (isContainer(value)) {
        const copy = Array.isArray(value) ? [] : {};
        put(target, safeKey, copy);
        const below = allSecret || key.toLowerCase() === "headers";
        stack.push({ source: value, target: copy, pointer: at, depth: depth + 1, allSecret: below });
      } else if (typeof value === "string") {
        const isAudio = key === "audio" || (key === "delta" && depth === 1 && hasAudioDelta);
        const bytes = isAudio && takeMedia ? decodeBase64(value) : undefined;
        if (bytes !== undefined) {
          result.media.push({ pointer: at, bytes });
          put(target, safeKey, null);
          continue;
        }
        const isContent = isAudio || (TEXT_KEYS.has(key) && !isErrorText(container, key));
        const isHeaders = key.toLowerCase() === "headers";
        const safe = isHeaders ? REDACTED : isContent ? value : redactText(value);
        if (safe !== value) result.redactions.push(at);
        if (!isScalarText(value)) result.isRecordable = false;
        put(target, safeKey, safe);
      } else {
        if (typeof value === "number" && !Number.isFinite(value)) result.isRecordable = false;
        put(target, safeKey, value);
      }
    }
  }
  return result;
}

/** An error's text is a diagnostic, not content. */
function isErrorText(container: JsonObject | JsonValue[], key: string): boolean {
  return (
    key !== "transcript" &&
    !Array.isArray(container) &&
    Object.hasOwn(container, "code") &&
    Object.hasOwn(container, "message")
  );
}

function isContainer(value: JsonValue): value is JsonObject | JsonValue[] {
  return Array.isArray(value) || isObject(value);
}

function put(target: JsonObject | JsonValue[], key: string, value: JsonValue): void {
  if (Array.isArray(target)) target.push(value);
  // A plain assignment would set the prototype.
  else if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}
