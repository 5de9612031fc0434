/**
 * Power loss, simulated: the system calls of a real run are recorded with strace, and from the recording every state is
 * built that the disk may be in after a cut at any moment. Bytes are durable once their file was synced; of what was
 * written since, any prefix may be there, or the whole length with zeros from some sector on, or with one sector lost.
 * Names are durable once their folder was synced; of those made since, any prefix.
 */
import { basename, dirname } from "node:path";

export type Event =
  | { kind: "create"; path: string }
  | { kind: "write"; path: string; bytes: Buffer; offset: number | undefined }
  | { kind: "truncate"; path: string; size: number }
  | { kind: "sync"; path: string }
  | { kind: "mkdir"; path: string }
  | { kind: "link" | "rename"; from: string; to: string }
  | { kind: "unlink" | "rmdir"; path: string }
  | { kind: "say"; line: string };

export const TRACED =
  "openat,open,creat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,ftruncate";

/** Reads the output of `strace -f -y -xx`; only what happened below `root` and on standard output matters. */
export function parseTrace(text: string, root: string): Event[] {
  const unfinished = new Map<string, string>();
  const events: Event[] = [];
  for (const raw of text.split("\n")) {
    const match = /^(?:\[pid\s+)?(\d+)\]?\s+(.*)$/.exec(raw);
    const pid = match?.[1] ?? "0";
    let call = match?.[2] ?? raw;
    if (call.endsWith("<unfinished ...>")) {
      unfinished.set(pid, call.slice(0, -"<unfinished ...>".length));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(call);
    if (resumed !== null) call = `${unfinished.get(pid) ?? ""}${resumed[1] ?? ""}`;
    const event = parseCall(call);
    if (event === undefined) continue;
    if (event.kind === "say" || pathsOf(event).some((path) => path.startsWith(root))) events.push(event);
  }
  return events;
}

function pathsOf(event: Exclude<Event, { kind: "say" }>): string[] {
  return "path" in event ? [event.path] : [event.from, event.to];
}

const unescape = (hex: string): Buffer => Buffer.from(hex.replaceAll("\\x", ""), "hex");

function parseCall(call: string): Event | undefined {
  const match = /^(\w+)\((.*)\)\s+=\s+(-?\d+)/.exec(call);
  if (match === null || Number(match[3]) < 0) return undefined;
  const [, name = "", args = "", result = "0"] = match;
  const texts = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map((found) => unescape(found[1] ?? ""));
  const [first = "", second = ""] = texts.map((found) => found.toString());
  const descriptor = /^(\d+)<((?:\\x[0-9a-f]{2}|[^>])*)>/.exec(args);
  const opened = descriptor === null ? "" : descriptorPath(descriptor[2] ?? "");
  const numbers = args.split(",").map((part) => Number(part.trim()));
  switch (name) {
    case "openat":
    case "open":
    case "creat":
      return args.includes("O_CREAT") ? { kind: "create", path: first } : undefined;
    case "write":
    case "pwrite64": {
      const bytes = (texts[0] ?? Buffer.alloc(0)).subarray(0, Number(result));
      if (descriptor?.[1] === "1") return { kind: "say", line: bytes.toString().trim() };
      const offset = name === "pwrite64" ? numbers.at(-1) : undefined;
      return { kind: "write", path: opened, bytes, offset };
    }
    case "fsync":
    case "fdatasync":
      return { kind: "sync", path: opened };
    case "ftruncate":
      return { kind: "truncate", path: opened, size: numbers.at(-1) ?? 0 };
    case "mkdir":
    case "mkdirat":
      return { kind: "mkdir", path: first };
    case "rename":
    case "renameat":
    case "renameat2":
      return { kind: "rename", from: first, to: second };
    case "link":
    case "linkat":
      return { kind: "link", from: first, to: second };
    case "rmdir":
      return { kind: "rmdir", path: first };
    case "unlink":
      return { kind: "unlink", path: first };
    case "unlinkat":
      return { kind: args.includes("AT_REMOVEDIR") ? "rmdir" : "unlink", path: first };
    default:
      return undefined;
  }
}

function descriptorPath(text: string): string {
  return text.includes("\\x") ? unescape(text).toString() : text;
}

/** A file: what is on stable storage, and what was done to it since. */
interface Inode {
  durable: Buffer;
  current: Buffer;
}

interface Name {
  path: string;
  /** Undefined: the name is taken away. */
  inode: Inode | undefined;
}

/** Stands for a folder, which has names and no bytes. */
const FOLDER: Inode = { durable: Buffer.alloc(0), current: Buffer.alloc(0) };

/** One state that the disk may be in: the files by path. */
export type DiskState = ReadonlyMap<string, Buffer>;

export interface CrashPoint {
  /** What the program had said by then. */
  readonly said: readonly string[];
  readonly states: Iterable<DiskState>;
}

const SECTOR = 512;

/** Plays a recording and gives, for the moment before each event and after the last, the states a cut may leave. */
export function* crashPoints(
  events: readonly Event[],
  root: string,
  existing: ReadonlyMap<string, Buffer>,
): Generator<CrashPoint> {
  const disk = new Disk(root, existing);
  const said: string[] = [];
  for (const event of events) {
    yield { said: [...said], states: disk.states() };
    if (event.kind === "say") said.push(event.line);
    else disk.apply(event);
  }
  yield { said: [...said], states: disk.states() };
}

class Disk {
  readonly #current = new Map<string, Inode>();
  readonly #durable = new Map<string, Inode>();
  readonly #root: string;
  /** Name operations that no sync of their folder has made durable, in order. */
  #pending: Name[][] = [];

  /** What exists already below `root` is durable, with its folders. */
  constructor(root: string, existing: ReadonlyMap<string, Buffer>) {
    this.#root = root;
    for (const [path, bytes] of existing) {
      const inode = { durable: bytes, current: bytes };
      this.#current.set(path, inode);
      this.#durable.set(path, inode);
      for (let folder = dirname(path); folder.length > root.length; folder = dirname(folder)) {
        this.#current.set(folder, FOLDER);
        this.#durable.set(folder, FOLDER);
      }
    }
  }

  apply(event: Exclude<Event, { kind: "say" }>): void {
    switch (event.kind) {
      case "create":
        if (!this.#current.has(event.path)) this.#name([{ path: event.path, inode: emptyInode() }]);
        return;
      case "write": {
        const inode = this.#inode(event.path);
        if (inode !== undefined) inode.current = written(inode.current, event.bytes, event.offset);
        return;
      }
      case "truncate": {
        const inode = this.#inode(event.path);
        if (inode !== undefined) inode.current = inode.current.subarray(0, event.size);
        return;
      }
      case "sync":
        return this.#sync(event.path);
      case "mkdir":
        return this.#name([{ path: event.path, inode: FOLDER }]);
      case "link":
        return this.#name([{ path: event.to, inode: this.#inode(event.from) }]);
      case "rename":
        return this.#rename(event.from, event.to);
      case "unlink":
      case "rmdir":
        return this.#name([{ path: event.path, inode: undefined }]);
    }
  }

  #inode(path: string): Inode | undefined {
    return this.#current.get(path);
  }

  #name(names: Name[]): void {
    for (const { path, inode } of names) {
      if (inode === undefined) this.#current.delete(path);
      else this.#current.set(path, inode);
    }
    this.#pending.push(names);
  }

  #rename(from: string, to: string): void {
    const moved = [...this.#current].filter(([path]) => path === from || path.startsWith(`${from}/`));
    this.#name(
      moved.flatMap(([path, inode]) => [
        { path, inode: undefined },
        { path: to + path.slice(from.length), inode },
      ]),
    );
  }

  #sync(path: string): void {
    const inode = this.#inode(path);
    if (inode !== undefined && inode !== FOLDER) {
      inode.durable = inode.current;
      return;
    }
    const inFolder = (names: Name[]): boolean => names.some((name) => dirname(name.path) === path);
    for (const names of this.#pending.filter(inFolder)) commit(this.#durable, names);
    this.#pending = this.#pending.filter((names) => !inFolder(names));
  }

  /** A file is lost with the name of any folder above it. */
  #isReachable(names: ReadonlyMap<string, Inode>, path: string): boolean {
    for (let folder = dirname(path); folder.length > this.#root.length; folder = dirname(folder)) {
      if (!names.has(folder)) return false;
    }
    return true;
  }

  /** A copy, because the disk goes on: every prefix of the names, and for each every content of the unsynced files. */
  *states(): Generator<DiskState> {
    for (let done = 0; done <= this.#pending.length; done += 1) {
      const all = new Map(this.#durable);
      for (const step of this.#pending.slice(0, done)) commit(all, step);
      const names = new Map([...all].filter(([path, inode]) => inode !== FOLDER && this.#isReachable(all, path)));
      const base = new Map([...names].map(([path, inode]) => [path, inode.durable]));
      yield base;
      for (const [path, inode] of names) {
        if (inode.durable === inode.current || basename(path).startsWith(".")) continue;
        for (const bytes of contents(inode)) yield new Map(base).set(path, bytes);
      }
    }
  }
}

function emptyInode(): Inode {
  return { durable: Buffer.alloc(0), current: Buffer.alloc(0) };
}

function commit(to: Map<string, Inode>, names: readonly Name[]): void {
  for (const { path, inode } of names) {
    if (inode === undefined) to.delete(path);
    else to.set(path, inode);
  }
}

function written(before: Buffer, bytes: Buffer, offset: number | undefined): Buffer {
  const at = offset ?? before.length;
  const after = Buffer.alloc(Math.max(before.length, at + bytes.length));
  before.copy(after);
  bytes.copy(after, at);
  return after;
}

function* contents({ durable, current }: Inode): Generator<Buffer> {
  if (current.length < durable.length) {
    yield current;
    return;
  }
  const start = durable.length;
  for (let end = start + 1; end <= current.length; end += 1) yield current.subarray(0, end);
  for (let at = Math.ceil(start / SECTOR) * SECTOR; at < current.length; at += SECTOR) {
    const zeroed = Buffer.from(current);
    yield zeroed.fill(0, at);
    const hole = Buffer.from(current);
    if (at + SECTOR < current.length) yield hole.fill(0, at, at + SECTOR);
  }
  if (current.length > start) yield Buffer.concat([durable, Buffer.alloc(current.length - start)]);
}
