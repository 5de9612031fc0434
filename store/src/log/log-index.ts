/** What one pass over a log has found out: its verdict, and an index of its committed entries instead of their bodies. */
import { StoreError } from "../errors";
import { type Entry, type SessionHeader } from "../format/schema";
import { type FileIdentity, identityOf, sameIdentity } from "../platform/pinned-directory";
import { type OpenFile } from "../platform/fs";
import { EntryIndex } from "./entry-index";
import { fingerprintAt, fingerprintOf, type Fingerprint } from "./fingerprint";
import { LogFacts } from "./facts";
import { scanRecords, type ScanOptions } from "./scan-records";
import { type Diagnostic, MAX_DIAGNOSTICS, type Recoverable, type Verdict } from "./verdict";

export class LogIndex {
  header: SessionHeader | null = null;
  verdict: Verdict = "corrupt";
  recoverable: Recoverable = "no";
  /** Where the last committed record before the first problem ends, its LF included. */
  committedBytes = 0;
  /** The size that the last pass saw. */
  size = 0;
  /** The modification time that the last pass saw; another one means that someone wrote since. */
  modifiedNs = 0n;
  readonly entries = new EntryIndex();
  readonly facts = new LogFacts();
  readonly identity: FileIdentity;
  /** Findings about committed entries, which do not touch the verdict. */
  readonly #warnings: Diagnostic[] = [];
  #warningCount = 0;
  /** What the verdict rests on. */
  #problems: readonly Diagnostic[] = [];
  /** Of the last committed record, so that a rewritten file is told from one that grew. */
  #fingerprint: Fingerprint | undefined;

  constructor(identity: FileIdentity) {
    this.identity = identity;
  }

  /** Problems first; each list in file order. */
  get diagnostics(): readonly Diagnostic[] {
    const more = this.#warningCount - this.#warnings.length;
    const hint: Diagnostic[] =
      more > 0 ? [{ code: "more-findings", message: `${more} more findings are not listed.` }] : [];
    return [...this.#problems, ...this.#warnings, ...hint];
  }

  /** Whether the whole log may be projected and appended to. */
  get authoritative(): boolean {
    return this.verdict === "valid";
  }

  /** Takes up a committed entry at the end of what is known; `length` in bytes without the LF. */
  commit(entry: Entry, length: number): void {
    this.facts.observe(entry);
    this.entries.add(entry, this.committedBytes, length);
    this.committedBytes += length + 1;
  }

  commitHeader(header: SessionHeader, length: number): void {
    this.header = header;
    this.committedBytes = length + 1;
  }

  warn(finding: Diagnostic): void {
    this.#warningCount += 1;
    if (this.#warnings.length < MAX_DIAGNOSTICS) this.#warnings.push(finding);
  }

  /** Ends a pass. */
  conclude(verdict: Verdict, recoverable: Recoverable, problems: readonly Diagnostic[]): void {
    this.verdict = verdict;
    this.recoverable = recoverable;
    this.#problems = problems;
  }

  /**
   * Looks at the file again, from the end of what is known. Cheap when nothing was written. Throws `log-replaced` when
   * it is another file or other content, `log-shrank` when committed records are gone.
   */
  async extend(file: OpenFile, options: ScanOptions = {}): Promise<void> {
    const stat = await file.stat({ bigint: true });
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
