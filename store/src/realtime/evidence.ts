/**
 * What is kept of one frame (Session file format, Realtime retention and ordered publication): the sanitized payload
 * inside the limits of a record, the pointers of what was redacted, and the media that go into assets.
 */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { isObject, type JsonObject } from "../format/schema";
import { MAX_DEPTH, MAX_RECORD_BYTES } from "../format/names";
import { isScalarText, nameOf, scalarText } from "./fields";
import { deepJsonText, parseJson } from "./json-text";
import { sanitizeFrame } from "./sanitize";
import { mayHoldSecret, redactText } from "./secrets";

export interface EvidenceMedia {
  pointer: string;
  bytes: Buffer;
  kind: "audio" | "json" | "text" | "binary";
}

export interface Evidence {
  /** The frame as it came, for the ordering engine; undefined when it is no JSON object. */
  frame: JsonObject | undefined;
  payload: JsonObject;
  redactions: string[];
  media: EvidenceMedia[];
  remoteEventId: string | undefined;
  /** About the bytes of the record, references to media included. */
  recordBytes: number;
}

type WrapReason = "too-large" | "too-deep" | "not-scalar-text" | "not-an-object" | "not-json" | "not-text";

/** The rest of a record is for its envelope. */
const MAX_PAYLOAD_BYTES = MAX_RECORD_BYTES - 16_384;
/** The record and the payload's own object are two of the containers that a record may nest. */
const MAX_PAYLOAD_DEPTH = MAX_DEPTH - 1;
/** Longer wrapped text becomes an asset. */
const MAX_INLINE_BYTES = 65_536;
const MEDIA_REFERENCE_BYTES = 320;
const ENVELOPE_BYTES = 512;

/** What is kept of a frame that came over the wire. Never throws, whatever it is. */
export function evidenceOfFrame(data: string | Uint8Array): Evidence {
  if (typeof data === "string") return textEvidence(data);
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return isUtf8(bytes) ? textEvidence(bytes.toString("utf8")) : binaryEvidence(bytes);
}

function textEvidence(text: string): Evidence {
  const value = parseJson(text);
  if (value === undefined) {
    return mayHoldSecret(text)
      ? digestOnly("not-json", Buffer.from(text, "utf8"))
      : wrapped("not-json", scalarText(text), false, undefined, "text");
  }
  if (isObject(value)) return evidenceOfEvent(value);
  // As a member of an object, so that the same pass sanitizes it.
  const member = parseJson(`{"value":${text}}`);
  const sanitized = sanitizeFrame(isObject(member) ? member : {}, false);
  const inner = deepJsonText(sanitized.frame.value ?? null);
  return wrapped("not-an-object", inner, sanitized.redactions.length > 0, undefined, "json");
}

/** What is kept of an event that is a JSON object. */
export function evidenceOfEvent(frame: JsonObject): Evidence {
  const sanitized = sanitizeFrame(frame);
  const reason =
    sanitized.depth > MAX_PAYLOAD_DEPTH ? "too-deep" : sanitized.isRecordable ? undefined : "not-scalar-text";
  if (reason !== undefined) return wrapFrame(frame, reason);
  const { frame: payload, redactions } = sanitized;
  const bytes =
    Buffer.byteLength(JSON.stringify(payload)) +
    Buffer.byteLength(JSON.stringify(redactions)) +
    sanitized.media.reduce((sum, media) => sum + MEDIA_REFERENCE_BYTES + 2 * media.pointer.length, 0);
  if (bytes > MAX_PAYLOAD_BYTES) return wrapFrame(frame, "too-large");
  return {
    frame,
    payload,
    redactions,
    media: sanitized.media.map((media) => ({ ...media, kind: "audio" })),
    remoteEventId: remoteEventIdOf(frame),
    recordBytes: bytes + ENVELOPE_BYTES,
  };
}

/** The whole frame as one text, sanitized the same way, for what a record cannot hold as a payload. */
function wrapFrame(frame: JsonObject, reason: WrapReason): Evidence {
  const sanitized = sanitizeFrame(frame, false);
  return wrapped(reason, deepJsonText(sanitized.frame), sanitized.redactions.length > 0, frame, "json");
}

function wrapped(
  reason: WrapReason,
  text: string,
  isRedacted: boolean,
  frame: JsonObject | undefined,
  kind: "json" | "text",
): Evidence {
  const bytes = Buffer.from(text, "utf8");
  const isInline = bytes.length <= MAX_INLINE_BYTES;
  const type = nameOf(frame, "type");
  const payload: JsonObject = {
    ...(type === undefined ? {} : { type: scalarText(redactText(type).slice(0, 256)) }),
    wrapped: { reason, bytes: bytes.length, text: isInline ? text : null },
  };
  return {
    frame,
    payload,
    redactions: isRedacted ? ["/wrapped/text"] : [],
    media: isInline ? [] : [{ pointer: "/wrapped/text", bytes, kind }],
    remoteEventId: frame === undefined ? undefined : remoteEventIdOf(frame),
    recordBytes: ENVELOPE_BYTES + (isInline ? Buffer.byteLength(JSON.stringify(text)) : MEDIA_REFERENCE_BYTES) + 1024,
  };
}

/** Bytes that are no text are kept as they are, unless they look like holding a secret. */
function binaryEvidence(source: Buffer): Evidence {
  // The caller may use its memory again before this is written.
  const bytes = Buffer.from(source);
  const evidence = digestOnly("not-text", bytes);
  if (bytes.length === 0 || mayHoldSecret(bytes.toString("latin1"))) return evidence;
  return { ...evidence, redactions: [], media: [{ pointer: "/wrapped/data", bytes, kind: "binary" }] };
}

/** What cannot be read cannot be redacted in part: only its size and digest are kept. */
function digestOnly(reason: WrapReason, bytes: Buffer): Evidence {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return {
    frame: undefined,
    payload: { wrapped: { reason, bytes: bytes.length, sha256, data: null } },
    redactions: ["/wrapped/data"],
    media: [],
    remoteEventId: undefined,
    recordBytes: ENVELOPE_BYTES + MEDIA_REFERENCE_BYTES + 256,
  };
}

function remoteEventIdOf(frame: JsonObject): string | undefined {
  const id = nameOf(frame, "event_id");
  return id === undefined || id.length > 512 || !isScalarText(id) ? undefined : redactText(id);
}
