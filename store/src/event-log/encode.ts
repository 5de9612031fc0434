/** Event-log backend, Physical encoding: what is written for a header and for a batch of events. */
import { headerLine } from "./header";
import { encodeLines } from "./rows";
import { type Compression, type EventLogHeader, type LogEvent } from "./types";
import { encodeFrame } from "./zstd";

export interface Encoding {
  readonly compression: Compression;
  /** Store runs of streamed deltas as one line. */
  readonly packChunks: boolean;
}

/** Bytes of one durable batch: one frame, or its lines. */
export function encodeBatch(events: readonly LogEvent[], { compression, packChunks }: Encoding): Buffer {
  return encodeText(encodeLines(events, packChunks), compression);
}

/** Bytes of a new log: the header apart from the first batch, so that it can be read alone. */
export function encodeNewLog(header: EventLogHeader, events: readonly LogEvent[], encoding: Encoding): Buffer {
  const head = encodeText(`${headerLine(header)}\n`, encoding.compression);
  return events.length === 0 ? head : Buffer.concat([head, encodeBatch(events, encoding)]);
}

export function encodeText(text: string, compression: Compression): Buffer {
  const bytes = Buffer.from(text, "utf8");
  return compression === "zstd" ? encodeFrame(bytes) : bytes;
}
