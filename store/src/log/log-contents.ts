/** What one pass over a log has found out: its verdict, and an index of its committed entries instead of their bodies. */
import { type IndexedEntry } from "../format/plain-record";
import { type SessionHeader } from "../format/schema";
import { EntryIndex } from "./entry-index";
import { LogFacts } from "./facts";
import { type Diagnostic, MAX_DIAGNOSTICS, type Recoverable, type Verdict } from "./verdict";

export class LogContents {
  header: SessionHeader | null = null;
  verdict: Verdict = "corrupt";
  recoverable: Recoverable = "no";
  /** Where the last committed record before the first problem ends, its LF included. */
  committedBytes = 0;
  readonly entries = new EntryIndex();
  readonly facts = new LogFacts();
  /** Findings about committed entries, which do not touch the verdict. */
  readonly #warnings: Diagnostic[] = [];
  #warningCount = 0;
  /** What the verdict rests on. */
  #problems: readonly Diagnostic[] = [];

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
  commit(entry: IndexedEntry, length: number): void {
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
}
