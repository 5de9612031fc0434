/** The real file system with failures put in, counted by kind of operation. */
import { type BigIntStats } from "node:fs";
import { nodeFileSystem, type FileSystem, type OpenFile } from "../../src/platform/fs";

export type Operation =
  | "open"
  | "mkdir"
  | "link"
  | "rename"
  | "unlink"
  | "rmdir"
  | "lstat"
  | "readdir"
  | "syncDirectory"
  | "read"
  | "write"
  | "sync"
  | "truncate"
  | "stat"
  | "close";

export interface Fault {
  operation: Operation;
  /** Fails the n-th operation of the kind, from 1. */
  at: number;
  /** And every later one. */
  forever?: boolean;
  code: string;
  /** For a write: so many bytes are written before it fails; the failing call itself is then the next one. */
  short?: number;
  /** For what already happened when the error comes: the operation is done and then reported as failed. */
  after?: boolean;
}

export function systemError(code: string, errno = -1): Error {
  return Object.assign(new Error(`${code}: injected`), { code, errno });
}

export class FaultyFs implements FileSystem {
  readonly counts = new Map<Operation, number>();
  readonly log: string[] = [];
  /** Changes what stat says of an open file. */
  statOf: (stat: BigIntStats) => BigIntStats = (stat) => stat;
  #fault: Fault | undefined;

  /** Puts one failure in, counted from now. */
  inject(fault: Fault | undefined): void {
    this.#fault = fault;
    this.counts.clear();
    this.log.length = 0;
  }

  count(operation: Operation): number {
    return this.counts.get(operation) ?? 0;
  }

  async #run<T>(operation: Operation, what: string, run: () => Promise<T>): Promise<T> {
    const count = this.count(operation) + 1;
    this.counts.set(operation, count);
    this.log.push(`${operation} ${what}`);
    const fault = this.#fault;
    const hit = fault?.operation === operation && (count === fault.at || (fault.forever === true && count > fault.at));
    if (!hit || fault === undefined) return run();
    // A close always gives the descriptor back, whatever it reports; a failed open gives none out.
    if ((fault.after === true && operation !== "open") || operation === "close") await run();
    throw systemError(fault.code);
  }

  async open(path: string, mode: "read" | "append" | "update" | "create"): Promise<OpenFile> {
    const file = await this.#run("open", `${mode} ${path}`, () => nodeFileSystem.open(path, mode));
    const read: OpenFile["read"] = (buffer, offset, length, position) =>
      this.#run("read", path, () => file.read(buffer, offset, length, position));
    const write: OpenFile["write"] = async (buffer, offset, length, position) => {
      const fault = this.#fault;
      const next = this.count("write") + 1;
      if (fault?.operation === "write" && fault.short !== undefined && next === fault.at) {
        // A full disk takes what fits and says so with the next call.
        const { short, ...rest } = fault;
        this.#fault = { ...rest, at: next + 1 };
        return this.#run("write", path, () => file.write(buffer, offset, Math.min(length, short), position));
      }
      return this.#run("write", path, () => file.write(buffer, offset, length, position));
    };
    return {
      get fd() {
        return file.fd;
      },
      read,
      write,
      stat: (options) => this.#run("stat", path, async () => this.statOf(await file.stat(options))),
      sync: () => this.#run("sync", path, () => file.sync()),
      truncate: (length) => this.#run("truncate", path, () => file.truncate(length)),
      close: () => this.#run("close", path, () => file.close()),
    };
  }

  mkdir = (path: string): Promise<void> => this.#run("mkdir", path, () => nodeFileSystem.mkdir(path));
  link = (from: string, to: string): Promise<void> => this.#run("link", to, () => nodeFileSystem.link(from, to));
  rename = (from: string, to: string): Promise<void> => this.#run("rename", to, () => nodeFileSystem.rename(from, to));
  unlink = (path: string): Promise<void> => this.#run("unlink", path, () => nodeFileSystem.unlink(path));
  rmdir = (path: string): Promise<void> => this.#run("rmdir", path, () => nodeFileSystem.rmdir(path));
  lstat = (path: string): Promise<BigIntStats> => this.#run("lstat", path, () => nodeFileSystem.lstat(path));
  readdir: FileSystem["readdir"] = (path) => this.#run("readdir", path, () => nodeFileSystem.readdir(path));
  realpath = (path: string): Promise<string> => nodeFileSystem.realpath(path);
  syncDirectory = (path: string): Promise<void> =>
    this.#run("syncDirectory", path, () => nodeFileSystem.syncDirectory(path));
}
