/** The index of a log in its file: which file it was found in, and how far it was read. */
import { type BigIntStats } from "node:fs";
import { StoreError } from "../errors";
import { type Entry } from "../format/schema";
import { type FileIdentity, identityOf, sameIdentity } from "../platform/pinned-directory";
import { type OpenFile } from "../platform/fs";
import { fingerprintAt, fingerprintOf, type Fingerprint } from "./fingerprint";
import { LogContents } from "./log-contents";
import { scanRecords, type ScanOptions } from "./scan-records";

export class LogIndex extends LogContents {
  /** The size that the last pass saw. */
  size = 0;
  /** The modification time that the last pass saw; another one means that someone wrote since. */
  modifiedNs = 0n;
  readonly identity: FileIdentity;
  /** Of the last committed record, so that a rewritten file is told from one that grew. */
  #fingerprint: Fingerprint | undefined;

  constructor(identity: FileIdentity) {
    super();
    this.identity = identity;
  }

  /**
   * Looks at the file again, from the end of what is known. Cheap when nothing was written. Throws `log-replaced` when
   * it is another file or other content, `log-shrank` when committed records are gone.
   */
  async extend(file: OpenFile, options: ScanOptions = {}): Promise<void> {
    await this.extendTo(file, await file.stat({ bigint: true }), options);
  }

  /** The same for a caller who has just asked what the system says about the file. */
  async extendTo(file: OpenFile, stat: BigIntStats, options: ScanOptions = {}): Promise<void> {
    if (!sameIdentity(identityOf(stat), this.identity)) throw new StoreError("log-replaced");
    const size = Number(stat.size);
    if (size === this.size && stat.mtimeNs === this.modifiedNs) return;
    if (size < this.committedBytes) throw new StoreError("log-shrank");
    if (this.#fingerprint !== undefined && !(await this.#fingerprint.matches(file)))
      throw new StoreError("log-replaced");
    await this.scan(file, size, stat.mtimeNs, options);
  }

  /** Scans from the end of what is known to `size`. */
  async scan(file: OpenFile, size: number, modifiedNs: bigint, options: ScanOptions): Promise<void> {
    await scanRecords(file, this, size, options);
    this.size = size;
    this.modifiedNs = modifiedNs;
    this.#fingerprint = await fingerprintAt(file, this.#lastRecord());
  }

  /**
   * Takes up entries that the caller has just written at the end and synced: their bytes with the LF, and the
   * modification time of the file with them in it. Touches no file, so it cannot fail after the entries are durable.
   */
  appended(records: readonly { entry: Entry; bytes: Buffer }[], modifiedNs: bigint): void {
    for (const { entry, bytes } of records) this.commit(entry, bytes.length - 1);
    this.size = this.committedBytes;
    this.modifiedNs = modifiedNs;
    const last = records.at(-1);
    if (last !== undefined) this.#fingerprint = fingerprintOf(last.bytes, this.committedBytes);
  }

  #lastRecord(): { offset: number; length: number } | undefined {
    const last = this.entries.count - 1;
    if (last >= 0) return { offset: this.entries.offsetOf(last), length: this.entries.lengthOf(last) };
    return this.header === null ? undefined : { offset: 0, length: this.committedBytes - 1 };
  }
}
