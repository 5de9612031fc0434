/**
 * Zstandard frames through Node's own library, in both directions, with a limit on what a frame may decode to.
 *
 * Node's one-shot calls make a new native context for every frame, which costs more than the work itself when a frame
 * holds one event. A stream object keeps its context; it is driven synchronously here through the handle that Node's
 * own one-shot calls use, after a check that it has the expected shape. Without that shape the one-shot calls serve.
 */
import * as zlib from "node:zlib";
import { promisify } from "node:util";
import { StoreError } from "../errors";
import { errnoName } from "../platform/errno";
import { corrupt } from "./errors";

const FRAME_PARAMETERS = { params: { [zlib.constants.ZSTD_c_checksumFlag]: 1 } };
const SCRATCH_BYTES = 256 * 1024;
/** A frame of this compressed size or more is decoded on the thread pool. */
export const LARGE_FRAME_BYTES = 1024 * 1024;

const decompressAsync = promisify(zlib.zstdDecompress);

/** What Node's zlib streams have inside, as far as it is used here. */
interface NativeHandle {
  writeSync(
    flush: number,
    input: Uint8Array,
    inputOffset: number,
    inputLength: number,
    output: Uint8Array,
    outputOffset: number,
    outputLength: number,
  ): void;
}

interface NativeStream {
  readonly handle: NativeHandle;
  /** [bytes left in the output, bytes left in the input] after a call. */
  readonly state: Uint32Array;
  failure(): unknown;
  close(): void;
}

function openNative(stream: zlib.ZstdCompress | zlib.ZstdDecompress): NativeStream | undefined {
  let failure: unknown;
  stream.on("error", (error) => (failure ??= error));
  const handle: unknown = Reflect.get(stream, "_handle");
  const state: unknown = Reflect.get(stream, "_writeState");
  if (!isNativeHandle(handle) || !(state instanceof Uint32Array) || state.length < 2) {
    stream.close();
    return undefined;
  }
  const errorKey = Reflect.ownKeys(stream).find((key) => typeof key === "symbol" && key.description === "kError");
  return {
    handle,
    state,
    failure: () => failure ?? (errorKey === undefined ? undefined : (Reflect.get(stream, errorKey) ?? undefined)),
    close: () => stream.close(),
  };
}

function isNativeHandle(value: unknown): value is NativeHandle {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, "writeSync") === "function";
}

/** Decodes frames one after another. What it returns is valid until its next call. */
export class FrameDecoder {
  readonly #maxBytes: number;
  #native: NativeStream | undefined;
  #scratch: Buffer | undefined;
  #usable = true;

  /** @param maxBytes what one frame may decode to, in bytes */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Decodes one complete frame and verifies its checksum. `offset` is the frame's place in the file, for errors.
   * Throws `event-log-corrupt` or `event-log-too-large`.
   */
  async decode(frame: Buffer, contentSize: number | undefined, offset: number): Promise<Buffer> {
    if (contentSize !== undefined && contentSize > this.#maxBytes) throw tooLarge(offset, this.#maxBytes);
    if (frame.length < LARGE_FRAME_BYTES) return this.decodeSync(frame, contentSize, offset);
    try {
      return await decompressAsync(frame, { maxOutputLength: this.#maxBytes });
    } catch (error) {
      throw decodeFailure(error, offset, this.#maxBytes);
    }
  }

  /** The same on the calling thread, whatever the size. */
  decodeSync(frame: Buffer, contentSize: number | undefined, offset: number): Buffer {
    if (contentSize !== undefined && contentSize > this.#maxBytes) throw tooLarge(offset, this.#maxBytes);
    try {
      const native = this.#open();
      if (native === undefined) return zlib.zstdDecompressSync(frame, { maxOutputLength: this.#maxBytes });
      return this.#run(native, frame);
    } catch (error) {
      this.close();
      throw decodeFailure(error, offset, this.#maxBytes);
    }
  }

  #open(): NativeStream | undefined {
    if (this.#native === undefined && this.#usable) {
      this.#native = openNative(zlib.createZstdDecompress({ chunkSize: 1024 }));
      this.#usable = this.#native !== undefined;
    }
    return this.#native;
  }

  #run(native: NativeStream, frame: Buffer): Buffer {
    const scratch = (this.#scratch ??= Buffer.allocUnsafeSlow(SCRATCH_BYTES));
    const full: Buffer[] = [];
    let total = 0;
    let inputAt = 0;
    for (;;) {
      native.handle.writeSync(
        zlib.constants.ZSTD_e_end,
        frame,
        inputAt,
        frame.length - inputAt,
        scratch,
        0,
        scratch.length,
      );
      const failure = native.failure();
      if (failure !== undefined) throw failure;
      const produced = scratch.length - (native.state[0] ?? 0);
      inputAt = frame.length - (native.state[1] ?? 0);
      total += produced;
      if (total > this.#maxBytes) throw new FrameTooLarge();
      if (produced < scratch.length) {
        if (inputAt !== frame.length) throw new Error("the frame ends before its bytes do");
        if (full.length === 0) return scratch.subarray(0, produced);
        full.push(scratch.subarray(0, produced));
        return Buffer.concat(full, total);
      }
      full.push(Buffer.from(scratch));
    }
  }

  close(): void {
    this.#native?.close();
    this.#native = undefined;
  }
}

class FrameTooLarge extends Error {}

function tooLarge(offset: number, maxBytes: number): StoreError {
  return new StoreError("event-log-too-large", {
    offset,
    message: `the frame at byte ${offset} decodes to more than ${maxBytes} bytes`,
  });
}

function decodeFailure(error: unknown, offset: number, maxBytes: number): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof FrameTooLarge || errnoName(error) === "ERR_BUFFER_TOO_LARGE") return tooLarge(offset, maxBytes);
  return corrupt(`corrupt Zstandard session log: frame at byte ${offset} failed validation`, { offset }, error);
}

/** What can be decoded of a frame whose end is missing; empty when nothing can. Bounded like a whole frame. */
export async function decodeTornFrame(bytes: Buffer, offset: number, maxBytes: number): Promise<Buffer> {
  try {
    return await decompressAsync(bytes, { finishFlush: zlib.constants.ZSTD_e_flush, maxOutputLength: maxBytes });
  } catch (error) {
    const failure = decodeFailure(error, offset, maxBytes);
    if (failure.code === "event-log-too-large") throw failure;
    // A torn frame owes nothing: what does not decode was never acknowledged.
    return Buffer.alloc(0);
  }
}

/** Bytes that a compressed frame can take at most (ZSTD_compressBound, and room for the smallest inputs). */
function compressBound(length: number): number {
  return length + (length >>> 8) + 1024;
}

let compressor: NativeStream | undefined;
let compressorUsable = true;

/** One independent frame with checksum and content size, at the library's default level. */
export function encodeFrame(plaintext: Buffer): Buffer {
  if (compressorUsable && plaintext.length <= LARGE_FRAME_BYTES) {
    compressor ??= openNative(zlib.createZstdCompress(FRAME_PARAMETERS));
    if (compressor !== undefined) {
      const frame = encodeNative(compressor, plaintext);
      if (frame !== undefined) return frame;
      compressor.close();
      compressor = undefined;
    }
    compressorUsable = false;
  }
  return zlib.zstdCompressSync(plaintext, FRAME_PARAMETERS);
}

function encodeNative(native: NativeStream, plaintext: Buffer): Buffer | undefined {
  const output = Buffer.allocUnsafe(compressBound(plaintext.length));
  native.handle.writeSync(zlib.constants.ZSTD_e_end, plaintext, 0, plaintext.length, output, 0, output.length);
  const [outputLeft, inputLeft] = native.state;
  // A frame that did not fit would leave the context in the middle of it: the caller starts afresh.
  if (native.failure() !== undefined || inputLeft !== 0 || outputLeft === undefined || outputLeft === 0) {
    return undefined;
  }
  return output.subarray(0, output.length - outputLeft);
}
