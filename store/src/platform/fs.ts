/**
 * The narrow set of file operations that the log, the assets and the session mutations use.
 *
 * It is a seam: tests inject failures, short writes and odd stat answers through it, and record the order of
 * operations. Everything that changes a session goes through it; nothing in it knows what a session is.
 */
import { constants, fstatSync, lstatSync, writeSync, type BigIntStats, type Dirent } from "node:fs";
import * as fsp from "node:fs/promises";
import { AdaptiveSync } from "./adaptive-sync";

/** An open file. A structural subset of Node's FileHandle, so that either can be scanned. */
export interface OpenFile {
  /** The descriptor, to be inherited by a child process. Never keep it beyond `close`. */
  readonly fd: number;
  /** Reads at an absolute position; may read less than asked for. */
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  /** Writes at an absolute position, or at the end of a file opened for appending when it is null. May write less. */
  write(buffer: Uint8Array, offset: number, length: number, position: number | null): Promise<{ bytesWritten: number }>;
  stat(options: { bigint: true }): Promise<BigIntStats>;
  /** Returns when the bytes and the size are on stable storage. */
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * How to open a file. Symbolic links in the last component are never followed, and a FIFO never blocks the caller.
 * - `read`: an existing file, for reading.
 * - `append`: an existing file, for reading and for writing at its end.
 * - `update`: an existing file, for reading and for writing in place.
 * - `create`: a file that must not exist, for reading and writing, mode 0600.
 */
export type OpenMode = "read" | "append" | "update" | "create";

export interface FileSystem {
  open(path: string, mode: OpenMode): Promise<OpenFile>;
  /** Creates one directory with mode 0700; EEXIST when the name is taken. */
  mkdir(path: string): Promise<void>;
  /** Publishes a file under a second name; EEXIST when the name is taken. */
  link(existing: string, name: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  rmdir(path: string): Promise<void>;
  /** Never follows a symbolic link in the last component. */
  lstat(path: string): Promise<BigIntStats>;
  readdir(path: string): Promise<Dirent[]>;
  /** The canonical spelling of an existing path. */
  realpath(path: string): Promise<string>;
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): Promise<void>;
}

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

const OPEN_FLAGS: Record<OpenMode, number> = {
  read: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
  append: O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
  update: O_RDWR | O_NOFOLLOW | O_NONBLOCK,
  create: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
};

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

class NodeFile implements OpenFile {
  readonly #handle: fsp.FileHandle;
  readonly #sync: AdaptiveSync;

  constructor(handle: fsp.FileHandle) {
    this.#handle = handle;
    this.#sync = new AdaptiveSync(handle);
  }

  get fd(): number {
    return this.#handle.fd;
  }

  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }> {
    return this.#handle.read(buffer, offset, length, position);
  }

  async write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ): Promise<{ bytesWritten: number }> {
    // Copying a bounded record into the page cache is cheaper than a trip to the thread pool; what waits for the
    // disk is the sync.
    return { bytesWritten: writeSync(this.#handle.fd, buffer, offset, length, position) };
  }

  async stat(_options: { bigint: true }): Promise<BigIntStats> {
    return fstatSync(this.#handle.fd, { bigint: true });
  }

  sync(): Promise<void> {
    return this.#sync.sync();
  }

  truncate(length: number): Promise<void> {
    return this.#handle.truncate(length);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** The real file system. */
export const nodeFileSystem: FileSystem = {
  async open(path, mode) {
    return new NodeFile(await fsp.open(path, OPEN_FLAGS[mode], FILE_MODE));
  },
  async mkdir(path) {
    await fsp.mkdir(path, { mode: DIRECTORY_MODE });
  },
  link: (existing, name) => fsp.link(existing, name),
  rename: (from, to) => fsp.rename(from, to),
  unlink: (path) => fsp.unlink(path),
  rmdir: (path) => fsp.rmdir(path),
  // On the calling thread: it is asked right before every append, where a trip to the thread pool costs more than half of
  // a fast sync, and the answer should be as fresh as can be.
  lstat: async (path) => lstatSync(path, { bigint: true }),
  readdir: (path) => fsp.readdir(path, { withFileTypes: true }),
  realpath: (path) => fsp.realpath(path),
  async syncDirectory(path) {
    const handle = await fsp.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};
