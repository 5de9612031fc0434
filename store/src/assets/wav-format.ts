/** The `fmt ` chunk of a WAV file and the header that native captures begin with. */

export interface WavFormat {
  readonly encoding: "pcm" | "float";
  readonly bitsPerSample: number;
  readonly channels: number;
  /** Hz. */
  readonly sampleRate: number;
  /** Bytes of one frame: one sample of every channel. */
  readonly blockAlign: number;
  readonly extensible: boolean;
}

/** Native captures: 16-bit PCM, one channel, this many frames a second. */
export const CAPTURE_SAMPLE_RATE = 24_000;
export const CAPTURE_DATA_OFFSET = 44;
const CAPTURE_BYTES_PER_FRAME = 2;

const TAG_PCM = 1;
const TAG_FLOAT = 3;
const TAG_EXTENSIBLE = 0xfffe;
const BASE_BYTES = 16;
const EXTENSIBLE_BYTES = 40;
/** The last fourteen bytes that every sub-format of WAVE_FORMAT_EXTENSIBLE ends with. */
const SUBFORMAT_TAIL = Buffer.from("000000001000800000aa00389b71", "hex");

/** Reads the body of a `fmt ` chunk. Only encodings whose frames can be counted from bytes alone are supported. */
export function parseWavFormat(body: Buffer): WavFormat | "invalid-fmt" | "unsupported-encoding" {
  if (body.length < BASE_BYTES) return "invalid-fmt";
  const tag = body.readUInt16LE(0);
  const extensible = tag === TAG_EXTENSIBLE;
  if (extensible && body.length < EXTENSIBLE_BYTES) return "invalid-fmt";
  if (extensible && !body.subarray(26, EXTENSIBLE_BYTES).equals(SUBFORMAT_TAIL)) return "unsupported-encoding";
  const encoding = encodingOf(extensible ? body.readUInt16LE(24) : tag);
  if (encoding === undefined) return "unsupported-encoding";
  const channels = body.readUInt16LE(2);
  const sampleRate = body.readUInt32LE(4);
  const blockAlign = body.readUInt16LE(12);
  const bitsPerSample = body.readUInt16LE(14);
  const widths = encoding === "pcm" ? [8, 16, 24, 32] : [32, 64];
  if (channels === 0 || sampleRate === 0 || !widths.includes(bitsPerSample)) return "invalid-fmt";
  if (blockAlign !== (channels * bitsPerSample) / 8) return "invalid-fmt";
  return { encoding, bitsPerSample, channels, sampleRate, blockAlign, extensible };
}

function encodingOf(tag: number): WavFormat["encoding"] | undefined {
  if (tag === TAG_PCM) return "pcm";
  return tag === TAG_FLOAT ? "float" : undefined;
}

/** True for the one format that a native capture may have. */
export function isCaptureFormat(format: WavFormat, dataOffset: number): boolean {
  return (
    format.encoding === "pcm" &&
    format.bitsPerSample === 16 &&
    format.channels === 1 &&
    format.sampleRate === CAPTURE_SAMPLE_RATE &&
    dataOffset === CAPTURE_DATA_OFFSET
  );
}

/** The 44 bytes before the samples of a native capture: 16-bit PCM, mono, at `sampleRate` Hz. */
export function wavHeader(dataBytes: number, sampleRate: number = CAPTURE_SAMPLE_RATE): Buffer {
  const header = Buffer.alloc(CAPTURE_DATA_OFFSET);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(CAPTURE_DATA_OFFSET - 8 + dataBytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(BASE_BYTES, 16);
  header.writeUInt16LE(TAG_PCM, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * CAPTURE_BYTES_PER_FRAME, 28);
  header.writeUInt16LE(CAPTURE_BYTES_PER_FRAME, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
