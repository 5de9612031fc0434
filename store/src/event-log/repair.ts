/**
 * Event-log backend, Crash recovery made durable. Whatever step is interrupted, nothing that could be read before is
 * lost: what is cut is kept beside the log first, and records recovered from a torn frame replace it in one rename.
 */
import { dirname } from "node:path";
import { StoreError } from "../errors";
import { asStoreError } from "../platform/errno";
import { type FileSystem } from "../platform/fs";
import { at } from "./errors";
import { encodeBatch, encodeText, type Encoding } from "./encode";
import { LogAppender, type LogEnd } from "./log-appender";
import { revisionOf, statOpen, type Revision } from "./log-file";
import { type Publication } from "./publication";
import { encodeLines } from "./rows";
import { type LogTail } from "./scan-log";
import { type LogEvent } from "./types";
import {
  copyRange,
  createSynced,
  isTemporaryName,
  keepCut,
  removeQuietly,
  temporaryName,
  writeFully,
} from "./write-file";

interface RepairTarget {
  readonly fs: FileSystem;
  readonly publication: Publication;
  readonly path: string;
  readonly encoding: Encoding;
}

/** What a read found, which a repair must still find. */
interface RepairPlan {
  readonly tail: LogTail;
  readonly closers: readonly LogEvent[];
  readonly file: { readonly dev: bigint; readonly ino: bigint };
  readonly revision: Revision;
}

interface RepairResult {
  /** An open writer at the repaired end. */
  readonly appender: LogAppender;
  /** Where the bytes that were cut off are kept; null when none were. */
  readonly kept: string | null;
}

/** True when the log on disk differs from what a read of it gives. */
export function needsRepair(plan: Pick<RepairPlan, "tail" | "closers">): boolean {
  return plan.tail.kind !== "clean" || plan.closers.length > 0;
}

/**
 * Carries out a repair under the writer's lease. `salvage` also cuts whole lines that cannot be read, which is never
 * done unasked: `event-log-damaged`. Throws `event-log-changed` when the log is not what was read any more.
 */
export async function repairLog(target: RepairTarget, plan: RepairPlan, salvage: boolean): Promise<RepairResult> {
  const { tail, closers } = plan;
  const { fs, path, encoding } = target;
  if (tail.kind === "damaged" && !salvage) {
    const { line, offset } = tail.issue.place;
    throw new StoreError("event-log-damaged", {
      location: path,
      ...(line === undefined ? {} : { line }),
      ...(offset === undefined ? {} : { offset }),
      cause: tail.issue,
    });
  }
  await removeLitter(target);
  const appender = await LogAppender.open(fs, path, { ...plan.file, size: tail.end });
  try {
    const stats = await statOpen(appender.file, path);
    if (revisionOf(stats) !== plan.revision) {
      throw new StoreError("event-log-changed", { location: path, message: "The log was changed since it was read." });
    }
    switch (tail.kind) {
      case "clean":
        if (closers.length > 0) await appender.append(encodeBatch(closers, encoding));
        return { appender, kept: null };
      case "unterminated":
        await appender.append(encodeText(`\n${encodeLines(closers, encoding.packChunks)}`, encoding.compression));
        return { appender, kept: null };
      case "torn":
      case "damaged":
        return await cutTail(target, plan, appender, tail);
    }
  } catch (error) {
    await appender.close();
    throw at(error, path);
  }
}

async function cutTail(
  target: RepairTarget,
  plan: RepairPlan,
  appender: LogAppender,
  tail: LogTail & { kind: "torn" | "damaged" },
): Promise<RepairResult> {
  const { fs, publication, path, encoding } = target;
  const kept = await keepCut(fs, publication, path, appender.file, tail.truncateTo, tail.end);
  const recovered = tail.kind === "torn" ? tail.recovered : [];
  if (recovered.length === 0) {
    await appender.truncate(tail.truncateTo);
    if (plan.closers.length > 0) await appender.append(encodeBatch(plan.closers, encoding));
    return { appender, kept };
  }
  const end = await replaceTail(target, appender, tail.truncateTo, [...recovered, ...plan.closers]);
  await appender.close();
  return { appender: await LogAppender.open(fs, path, end), kept };
}

/** Builds the repaired log beside the torn one and puts it in its place. */
async function replaceTail(
  { fs, publication, path, encoding }: RepairTarget,
  appender: LogAppender,
  truncateTo: number,
  events: readonly LogEvent[],
): Promise<LogEnd> {
  const temporary = temporaryName(path);
  const frame = encodeBatch(events, encoding);
  let end: LogEnd | undefined;
  await createSynced(fs, temporary, async (copy) => {
    await copyRange(appender.file, 0, truncateTo, copy);
    await writeFully(copy, frame, truncateTo);
    const { dev, ino } = await copy.stat({ bigint: true });
    end = { dev, ino, size: truncateTo + frame.length };
  });
  try {
    const { dev, ino, size } = await fs.lstat(path);
    if (
      end === undefined ||
      dev !== appender.end.dev ||
      ino !== appender.end.ino ||
      Number(size) !== appender.end.size
    ) {
      throw new StoreError("event-log-changed", { location: path, message: "The log was changed during its repair." });
    }
    await fs.rename(temporary, path);
  } catch (error) {
    await removeQuietly(fs, temporary);
    throw asStoreError(error, { location: path }, "put the repaired log in its place");
  }
  await publication.syncDirectory(dirname(path));
  return end;
}

/** Removes what first appends and repairs that were interrupted have left. The log is there, so nobody needs it. */
async function removeLitter({ fs, path }: RepairTarget): Promise<void> {
  const directory = dirname(path);
  try {
    for (const entry of await fs.readdir(directory)) {
      if (entry.isFile() && isTemporaryName(entry.name)) await removeQuietly(fs, `${directory}/${entry.name}`);
    }
  } catch (error) {
    throw asStoreError(error, { location: directory }, "read the session folder");
  }
}
