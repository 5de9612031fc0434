import { nodeFileSystem, type FileSystem, type OpenFile } from "../../src/platform/fs";

type Operation = "write" | "sync" | "truncate" | "link" | "rename" | "open" | "mkdir" | "syncDirectory" | "unlink";

/** The real file system with failures put in its way, and a record of what was asked for. */
export class FaultyFs {
  readonly calls: string[] = [];
  /** Answers the error to throw instead of doing an operation, or how many bytes to write of it. */
  fault: (operation: Operation, count: number, path: string) => Error | { shortWrite: number } | undefined = () =>
    undefined;
  #count = 0;

  #at(operation: Operation, path: string): { shortWrite: number } | undefined {
    this.#count += 1;
    this.calls.push(`${operation} ${path}`);
    const fault = this.fault(operation, this.#count, path);
    if (fault instanceof Error) throw fault;
    return fault;
  }

  reset(): void {
    this.#count = 0;
    this.calls.length = 0;
  }

  readonly fs: FileSystem = {
    ...nodeFileSystem,
    open: async (path, mode) => {
      this.#at("open", path);
      return this.#wrap(await nodeFileSystem.open(path, mode), path);
    },
    mkdir: async (path) => {
      this.#at("mkdir", path);
      await nodeFileSystem.mkdir(path);
    },
    link: async (from, to) => {
      this.#at("link", to);
      await nodeFileSystem.link(from, to);
    },
    rename: async (from, to) => {
      this.#at("rename", to);
      await nodeFileSystem.rename(from, to);
    },
    unlink: async (path) => {
      this.#at("unlink", path);
      await nodeFileSystem.unlink(path);
    },
    syncDirectory: async (path) => {
      this.#at("syncDirectory", path);
      await nodeFileSystem.syncDirectory(path);
    },
  };

  #wrap(file: OpenFile, path: string): OpenFile {
    return {
      get fd() {
        return file.fd;
      },
      read: (...args) => file.read(...args),
      stat: (options) => file.stat(options),
      close: () => file.close(),
      write: async (buffer, offset, length, position) => {
        const short = this.#at("write", path);
        return file.write(buffer, offset, short?.shortWrite ?? length, position);
      },
      sync: async () => {
        this.#at("sync", path);
        await file.sync();
      },
      truncate: async (length) => {
        this.#at("truncate", path);
        await file.truncate(length);
      },
    };
  }
}

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code });
}
