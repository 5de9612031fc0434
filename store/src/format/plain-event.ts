/**
 * The fast way through the evidence of sound that was sent, which is most of the log of a recording: ten records for
 * each of its seconds, checked in full without being parsed.
 */
import { COUNT, ID, PARENT_ID, SOME_STRING, TIME } from "./plain-parts";
import { type RealtimeEventEntry } from "./schema";

/** As much of an event as an index and the rules for connections need. */
export type PlainEvent = Pick<RealtimeEventEntry, "type" | "id" | "parentId" | "connectionId" | "sequence">;

const RANGE = `(?:,"byteRange":\\{"start":(${COUNT}),"end":(${COUNT})\\})?`;
const ASSET =
  `\\{"status":"available","path":"assets/[A-Za-z0-9][A-Za-z0-9._-]{0,254}","mimeType":"audio/wav"${RANGE}` +
  `(?:,"encoding":${SOME_STRING})?(?:,"sha256":"[0-9a-f]{64}")?\\}`;

/**
 * An `input_audio_buffer.append` as the recorder writes it, its audio left in the WAV that it refers to. What matches is
 * strict JSON without a duplicate key, and every member is what the schema asks for, but for the order of the two ends
 * of the range. What does not match is parsed.
 */
const PLAIN_EVENT = new RegExp(
  `^\\{"type":"realtime_event","id":"(${ID})","parentId":(${PARENT_ID}),"timestamp":"${TIME}",` +
    `"connectionId":"(${ID})","direction":"outgoing","observation":"send_(?:attempt|failed)","observedAt":"${TIME}",` +
    `"sequence":(${COUNT}),"payload":\\{"type":"input_audio_buffer\\.append"(?:,"event_id":${SOME_STRING})?,"audio":null\\},` +
    `"media":\\[\\{"path":"/audio","asset":${ASSET}\\}\\]\\}$`,
);

/** The evidence of sent sound that a line is; null when the line has to be parsed to be judged. */
export function readPlainEvent(line: string): PlainEvent | null {
  const match = PLAIN_EVENT.exec(line);
  if (match === null) return null;
  const [, id = "", parent = "null", connectionId = "", sequence, start, end] = match;
  if (start !== undefined && Number(start) >= Number(end)) return null;
  const parentId = parent === "null" ? null : parent.slice(1, -1);
  return { type: "realtime_event", id, parentId, connectionId, sequence: Number(sequence) };
}
