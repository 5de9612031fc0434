/** Media of the evidence as references to bytes that are durable already (Session file format, Realtime retention). */
import { createHash } from "node:crypto";
import { isStoreError } from "../errors";
import { type AvailableAsset, type MediaReference } from "../format/schema";
import { type Session } from "../session/session";
import { type EvidenceMedia } from "./evidence";

/** Bytes of an evidence entry that go outside of the log. */
export interface PendingMedia extends EvidenceMedia {
  mimeType: string;
  encoding: string | undefined;
  /** Where the capture holds the same bytes, if it does: offsets in the whole file. */
  wav: { start: number; end: number } | undefined;
}

const MAX_SPAN_BYTES = 4 * 1_048_576;

type MediaSession = Pick<Session, "openAsset" | "writeProtocolAsset">;

/**
 * Makes the media of a batch durable and gives their references, in order. Bytes that the capture holds at the announced
 * place are referenced there; everything else goes together into one new protocol asset.
 */
export async function storeMedia(
  session: MediaSession,
  capture: AvailableAsset | undefined,
  media: readonly PendingMedia[],
): Promise<MediaReference[]> {
  const captured = capture === undefined ? [] : await readCapture(session, capture, media);
  const isCaptured = (index: number): boolean =>
    media[index]?.bytes.equals(captured[index] ?? Buffer.alloc(0)) === true;
  const rest = media.filter((_, index) => !isCaptured(index));
  const asset = rest.length === 0 ? undefined : await writeTogether(session, rest);
  let offset = 0;
  return media.map((item, index) => {
    const about = { ...(item.encoding === undefined ? {} : { encoding: item.encoding }), sha256: digest(item.bytes) };
    if (capture !== undefined && item.wav !== undefined && isCaptured(index)) {
      const reference = { ...capture, byteRange: { ...item.wav }, ...about };
      return { path: item.pointer, asset: reference };
    }
    const start = offset;
    offset += item.bytes.length;
    const path = asset?.path ?? "";
    const byteRange = { start, end: offset };
    return { path: item.pointer, asset: { status: "available", path, mimeType: item.mimeType, byteRange, ...about } };
  });
}

function writeTogether(session: MediaSession, media: readonly PendingMedia[]): Promise<AvailableAsset> {
  const bytes = Buffer.concat(media.map((item) => item.bytes));
  return session.writeProtocolAsset(bytes, { mimeType: "application/octet-stream" });
}

/** The bytes at the announced places, as far as the capture has them; one read for neighbouring ranges. */
async function readCapture(
  session: MediaSession,
  capture: AvailableAsset,
  media: readonly PendingMedia[],
): Promise<(Buffer | undefined)[]> {
  const captured: (Buffer | undefined)[] = media.map(() => undefined);
  const wanted = media.flatMap((item, index) => (item.wav === undefined ? [] : [{ index, wav: item.wav }]));
  if (wanted.length === 0) return captured;
  try {
    const { byteRange: _whole, sha256: _digest, ...file } = capture;
    const reader = await session.openAsset(file);
    try {
      for (const span of spansOf(wanted, reader.size)) {
        const bytes = await reader.read(span.start, span.end);
        for (const { index, wav } of span.members) {
          captured[index] = bytes.subarray(wav.start - span.start, wav.end - span.start);
        }
      }
    } finally {
      await reader.close();
    }
  } catch (error) {
    // An unavailable capture only means that the bytes are kept a second time.
    if (!isStoreError(error)) throw error;
  }
  return captured;
}

interface Wanted {
  index: number;
  wav: { start: number; end: number };
}

/** Joins ranges that follow each other, and leaves out those that the file does not have. */
function spansOf(wanted: readonly Wanted[], size: number): { start: number; end: number; members: Wanted[] }[] {
  const spans: { start: number; end: number; members: Wanted[] }[] = [];
  for (const member of wanted) {
    const { start, end } = member.wav;
    if (start < 0 || end <= start || end > size) continue;
    const last = spans.at(-1);
    if (last !== undefined && last.end === start && end - last.start <= MAX_SPAN_BYTES) {
      last.end = end;
      last.members.push(member);
    } else spans.push({ start, end, members: [member] });
  }
  return spans;
}

function digest(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
