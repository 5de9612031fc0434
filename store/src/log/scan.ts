/** Opening a log: one pass that validates every record (Session file format, Version 1 contract). Never writes. */
import { StoreError } from "../errors";
import { identityOf } from "../platform/pinned-directory";
import { type OpenFile } from "../platform/fs";
import { isDataless } from "../platform/whole-file";
import { LogIndex } from "./log-index";
import { type ScanOptions } from "./scan-records";

export { LogIndex } from "./log-index";
export type { ScanOptions, ScanProgress } from "./scan-records";

/**
 * Scans an open log from its beginning. A file that is not a regular one is `unsafe-path`; one whose content is not on
 * this computer is `unavailable`, never a verdict.
 */
export async function scanLog(file: OpenFile, options: ScanOptions = {}): Promise<LogIndex> {
  options.signal?.throwIfAborted();
  const stat = await file.stat({ bigint: true });
  if (!stat.isFile()) throw new StoreError("unsafe-path", { message: "session.jsonl is not a plain file." });
  if (isDataless(stat)) throw new StoreError("unavailable");
  const log = new LogIndex(identityOf(stat));
  await log.scan(file, Number(stat.size), stat.mtimeNs, options);
  return log;
}
