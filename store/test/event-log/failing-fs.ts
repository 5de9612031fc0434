/** The real file system, of which one step (counted over all operations, those on open files too) fails. */
import { nodeFileSystem, type FileSystem, type OpenFile } from "../../src/platform/fs";

export class FailingFs {
  /** What was asked for, in order. */
  readonly steps: string[] = [];
  /** The step that fails, from 1 on, and how: with an error, or a write with half of its bytes written. */
  #failure: { readonly step: number; readonly how: Error | "short write" } | undefined;
  /** The step that failed. */
  failed: string | undefined;

  #step(name: string): "short write" | undefined {
    this.steps.push(name);
    if (this.#failure?.step !== this.steps.length) return undefined;
    this.failed = name;
    if (this.#failure.how instanceof Error) throw this.#failure.how;
    return this.#failure.how;
  }

  /** Counts from here on, and lets the nth step fail. */
  arm(step: number, how: Error | "short write"): void {
    this.steps.length = 0;
    this.failed = undefined;
    this.#failure = { step, how };
  }

  disarm(): void {
    this.#failure = undefined;
    this.steps.length = 0;
  }

  async #run<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.#step(name);
    return work();
  }

  readonly fs: FileSystem = {
    open: async (path, mode) =>
      this.#wrap(await this.#run(`open ${mode}`, () => nodeFileSystem.open(path, mode)), mode),
    mkdir: (path) => this.#run("mkdir", () => nodeFileSystem.mkdir(path)),
    link: (existing, name) => this.#run("link", () => nodeFileSystem.link(existing, name)),
    rename: (from, to) => this.#run("rename", () => nodeFileSystem.rename(from, to)),
    unlink: (path) => this.#run("unlink", () => nodeFileSystem.unlink(path)),
    rmdir: (path) => this.#run("rmdir", () => nodeFileSystem.rmdir(path)),
    lstat: (path) => this.#run("lstat", () => nodeFileSystem.lstat(path)),
    readdir: (path) => this.#run("readdir", () => nodeFileSystem.readdir(path)),
    realpath: (path) => this.#run("realpath", () => nodeFileSystem.realpath(path)),
    syncDirectory: (path) => this.#run("syncDirectory", () => nodeFileSystem.syncDirectory(path)),
  };

  #wrap(file: OpenFile, mode: string): OpenFile {
    return {
      get fd() {
        return file.fd;
      },
      read: (...args) => this.#run(`read ${mode}`, () => file.read(...args)),
      write: async (buffer, offset, length, position) => {
        const isShort = this.#step(`write ${mode}`) === "short write";
        return file.write(buffer, offset, isShort ? length >> 1 : length, position);
      },
      stat: (options) => this.#run(`stat ${mode}`, () => file.stat(options)),
      sync: () => this.#run(`sync ${mode}`, () => file.sync()),
      truncate: (length) => this.#run(`truncate ${mode}`, () => file.truncate(length)),
      // A descriptor is gone, whatever close answers.
      close: () => file.close(),
    };
  }
}
