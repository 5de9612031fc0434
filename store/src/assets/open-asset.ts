import { createHash } from "node:crypto";
import { StoreError } from "../errors";
import { type AssetReference } from "../format/schema";
import { asStoreError } from "../platform/errno";
import { type FileSystem, type OpenFile } from "../platform/fs";
import { type PinnedDirectory } from "../platform/pinned-directory";
import { readFully } from "../platform/whole-file";
import { assetNameOf, openConfined } from "./asset-path";

/** Reads the bytes that one reference stands for. Offsets count from the first referenced byte. */
export interface AssetReader {
  /** Number of referenced bytes. */
  readonly size: number;
  /** Reads `[start, end)`; both must lie within `[0, size]`. */
  read(start: number, end: number): Promise<Buffer>;
  /** Compares the bytes with the recorded digest: `digest-mismatch` when they differ, `unrecorded` when there is none. */
  verify(): Promise<"verified" | "unrecorded">;
  close(): Promise<void>;
}

const VERIFY_CHUNK_BYTES = 1024 * 1024;

/** Opens the referenced bytes of an available asset. A missing asset, or a range beyond the file, is an error. */
export async function openAsset(
  fs: FileSystem,
  session: PinnedDirectory,
  reference: AssetReference,
): Promise<AssetReader> {
  const place = { location: session.path };
  if (reference.status === "missing") throw new StoreError("asset-missing", place);
  const file = await openConfined(fs, session, assetNameOf(reference.path), "read");
  try {
    const fileSize = Number((await file.stat({ bigint: true })).size);
    const { start, end } = reference.byteRange ?? { start: 0, end: fileSize };
    if (end > fileSize || start > end) {
      throw new StoreError("asset-invalid", { ...place, message: "The asset is shorter than its reference says." });
    }
    return new RangeReader(file, session.path, start, end - start, reference.sha256);
  } catch (error) {
    await file.close();
    throw asStoreError(error, place, "open the asset");
  }
}

class RangeReader implements AssetReader {
  readonly size: number;
  readonly #file: OpenFile;
  readonly #location: string;
  readonly #origin: number;
  readonly #sha256: string | undefined;

  constructor(file: OpenFile, location: string, origin: number, size: number, sha256: string | undefined) {
    this.#file = file;
    this.#location = location;
    this.#origin = origin;
    this.size = size;
    this.#sha256 = sha256;
  }

  async read(start: number, end: number): Promise<Buffer> {
    if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start || end > this.size) {
      throw new StoreError("usage", { location: this.#location, message: "The range lies outside the asset." });
    }
    try {
      return await readFully(this.#file, this.#origin + start, end - start);
    } catch (error) {
      throw asStoreError(error, { location: this.#location }, "read the asset");
    }
  }

  async verify(): Promise<"verified" | "unrecorded"> {
    if (this.#sha256 === undefined) return "unrecorded";
    const hash = createHash("sha256");
    for (let at = 0; at < this.size; at += VERIFY_CHUNK_BYTES) {
      hash.update(await this.read(at, Math.min(this.size, at + VERIFY_CHUNK_BYTES)));
    }
    if (hash.digest("hex") !== this.#sha256) throw new StoreError("digest-mismatch", { location: this.#location });
    return "verified";
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
