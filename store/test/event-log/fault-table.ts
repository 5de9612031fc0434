/** What can be wrong with a stored log, and what each call must answer: the rows of the table of typed errors. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as zlib from "node:zlib";
import { type StoreErrorCode } from "../../src/errors";
import { type EventLogOptions } from "../../src/event-log/options";
import { type Compression } from "../../src/event-log/types";
import { type FaultLog } from "./fault-log";

export const CALLS = [
  "create",
  "append",
  "writer",
  "load",
  "inspect",
  "readFrom 0",
  "readFrom 8",
  "iterate",
  "readRaw",
  "follow",
  "export",
  "readStoredRevision",
  "list",
  "verify",
  "recover",
  "salvage",
  "delete",
  "release",
  "listAgentSessions",
  "searchAgentSessions",
  "readAgentSession",
] as const;

export type Call = (typeof CALLS)[number];

/** `fine` for a call that the fault is no matter of, else the code. */
export type Answer = "fine" | StoreErrorCode;

export interface FaultPlace {
  readonly line?: number;
  readonly offset?: number;
  /** The log's path unless something else is at fault. */
  readonly location?: string;
}

export interface Fault {
  readonly name: string;
  readonly compression: Compression;
  readonly options?: Partial<EventLogOptions>;
  readonly code: StoreErrorCode;
  readonly answers: Readonly<Record<Call, Answer>>;
  plant(log: FaultLog): FaultPlace;
}

function answers(code: Answer, but: Partial<Record<Call, Answer>>): Record<Call, Answer> {
  const all = Object.fromEntries(CALLS.map((call) => [call, code]));
  return { ...(all as Record<Call, Answer>), ...but };
}

/** Calls that do not look into the log. */
const OUTSIDE: Partial<Record<Call, Answer>> = {
  create: "already-exists",
  readStoredRevision: "fine",
  delete: "fine",
  release: "fine",
};

/** The header cannot be read: of the whole log nothing can. */
function header(
  name: string,
  code: StoreErrorCode,
  plant: Fault["plant"],
  but: Partial<Record<Call, Answer>> = {},
): Fault {
  return { name, compression: "zstd", code, plant, answers: answers(code, { ...OUTSIDE, ...but }) };
}

/** An event or a frame cannot be read: who reads it says so. */
function content(
  name: string,
  compression: Compression,
  code: StoreErrorCode,
  plant: Fault["plant"],
  but: Partial<Record<Call, Answer>> = {},
): Fault {
  return {
    name,
    compression,
    code,
    plant,
    answers: answers(code, { ...OUTSIDE, readRaw: "fine", list: "fine", ...but }),
  };
}

/** Something else is where the log should be. */
function place(
  name: string,
  code: StoreErrorCode,
  plant: Fault["plant"],
  but: Partial<Record<Call, Answer>> = {},
): Fault {
  return { name, compression: "zstd", code, plant, answers: answers(code, { release: "fine", ...but }) };
}

/** The readers of other programs' logs take what there is. */
const AGENTS_FINE = {
  listAgentSessions: "fine",
  searchAgentSessions: "fine",
  readAgentSession: "fine",
} as const satisfies Partial<Record<Call, Answer>>;

export const FAULTS: readonly Fault[] = [
  header("an empty file", "event-log-corrupt", (log) => {
    log.bytes = Buffer.alloc(0);
    return { line: 1, offset: 0 };
  }),
  header("bytes that are no frame", "event-log-corrupt", (log) => {
    log.bytes = Buffer.from("not a log at all");
    return { offset: 0 };
  }),
  header("a header frame without its end", "event-log-corrupt", (log) => {
    log.bytes = log.bytes.subarray(0, 40);
    return { line: 1, offset: 0 };
  }),
  header("a header frame with another checksum", "event-log-corrupt", (log) => {
    const frame = zlib.zstdCompressSync(Buffer.from(`${log.header}\n`), {
      params: { [zlib.constants.ZSTD_c_checksumFlag]: 1 },
    });
    frame.writeUInt8(frame.readUInt8(frame.length - 1) ^ 1, frame.length - 1);
    log.bytes = frame;
    return { offset: 0 };
  }),
  header("one frame for all lines", "event-log-corrupt", (log) => {
    log.write([log.header, ...log.events].map((line) => `${line}\n`).join(""));
    return { offset: 0 };
  }),
  header("a header frame that decodes to a flood", "event-log-too-large", (log) => {
    log.bytes = zlib.zstdCompressSync(Buffer.alloc(4 * 1024 * 1024));
    return { offset: 0 };
  }),
  header("a first line that is no header", "event-log-corrupt", (log) => log.replaceLine(1, '{"type":"other"}')),
  header("a first line that is no JSON", "event-log-corrupt", (log) => log.replaceLine(1, "session")),
  header("a header with a retired field", "event-log-corrupt", (log) =>
    log.replaceLine(1, log.headerWith({ sandboxMode: "on" })),
  ),
  header(
    "a header of a newer version",
    "event-log-unsupported",
    (log) => log.replaceLine(1, log.headerWith({ version: 3 })),
    // Which version it is, the header itself says: the text is handed out.
    { readRaw: "fine" },
  ),
  header(
    "a header of another session",
    "event-log-identity-mismatch",
    (log) => {
      log.replaceLine(1, log.headerWith({ id: "t" }));
      return {};
    },
    { readAgentSession: "fine" },
  ),
  header(
    "a header of another project",
    "event-log-identity-mismatch",
    (log) => {
      log.replaceLine(1, log.headerWith({ cwd: "/srv/beta" }));
      return {};
    },
    { readAgentSession: "fine" },
  ),

  content("a frame with another checksum", "zstd", "event-log-corrupt", breakLastFrame, {
    readRaw: "event-log-corrupt",
  }),
  content(
    "bytes after the last frame that are none",
    "zstd",
    "event-log-corrupt",
    (log) => {
      const { bytes } = log;
      log.bytes = Buffer.concat([bytes, Buffer.from("garbage")]);
      return { offset: bytes.length };
    },
    { readRaw: "event-log-corrupt" },
  ),
  {
    ...content(
      "a frame that decodes to a flood",
      "zstd",
      "event-log-too-large",
      (log) => {
        const { bytes } = log;
        log.bytes = Buffer.concat([bytes, zlib.zstdCompressSync(Buffer.alloc(4 * 1024 * 1024, 32))]);
        return { offset: bytes.length };
      },
      // The readers of other programs' logs take the default limits; to them it is a line that never ends.
      {
        readRaw: "event-log-too-large",
        listAgentSessions: "event-log-corrupt",
        searchAgentSessions: "event-log-corrupt",
        readAgentSession: "event-log-corrupt",
      },
    ),
    options: { limits: { maxFrameBytes: 1024 * 1024 } },
  },
  {
    ...content(
      "a line without end",
      "none",
      "event-log-too-large",
      (log) => {
        const { bytes } = log;
        log.bytes = Buffer.concat([bytes, Buffer.alloc(4 * 1024 * 1024, 32)]);
        return { line: 14, offset: bytes.length };
      },
      AGENTS_FINE,
    ),
    options: { limits: { maxFrameBytes: 1024 * 1024 } },
  },
  {
    ...content("more text than may be handed out at once", "none", "event-log-too-large", (log) => {
      return { offset: Buffer.byteLength(`${log.header}\n`) };
    }),
    answers: answers("fine", { create: "already-exists", readRaw: "event-log-too-large" }),
    options: { limits: { maxFrameBytes: 1024 * 1024, maxTextBytes: 1024 } },
  },
  ...(["zstd", "none"] as const).flatMap((compression) => [
    content(
      `a line that is no JSON, before the end of a turn (${compression})`,
      compression,
      "event-log-corrupt",
      (log) => log.replaceLine(9, "{no json"),
    ),
    content(`a line that is null (${compression})`, compression, "event-log-corrupt", (log) =>
      log.replaceLine(9, "null"),
    ),
    content(`a gap in the sequence (${compression})`, compression, "event-log-corrupt", (log) =>
      log.replaceLine(11, log.eventWith(11, { seq: 77 })),
    ),
    content(`an event of an unknown type (${compression})`, compression, "event-log-unsupported", (log) =>
      log.replaceLine(11, log.eventWith(11, { type: "x/y", surfaceOp: undefined })),
    ),
    content(`an event that breaks its rules (${compression})`, compression, "event-log-corrupt", (log) =>
      log.replaceLine(11, log.eventWith(11, { time: 1.5 })),
    ),
    content(
      `an event that breaks its rules, before what is asked for (${compression})`,
      compression,
      "event-log-corrupt",
      (log) => log.replaceLine(3, log.eventWith(3, { time: 1.5 })),
      // A read of the newest events does not look at the older ones.
      {
        "readFrom 8": compression === "zstd" ? "fine" : "event-log-corrupt",
        follow: compression === "zstd" ? "fine" : "event-log-corrupt",
      },
    ),
  ]),
  content(
    "lines at the end that cannot be read",
    "none",
    "event-log-damaged",
    (log) => {
      const { bytes } = log;
      log.bytes = Buffer.concat([bytes, Buffer.from("damaged\n")]);
      return { line: 14, offset: bytes.length };
    },
    {
      ...AGENTS_FINE,
      load: "fine",
      inspect: "fine",
      "readFrom 0": "fine",
      "readFrom 8": "fine",
      iterate: "fine",
      follow: "fine",
      export: "fine",
      verify: "fine",
      salvage: "fine",
    },
  ),

  place(
    "a folder in the place of the log",
    "unsafe-path",
    (log) => {
      rmSync(log.path);
      mkdirSync(log.path);
      return {};
    },
    { create: "already-exists", delete: "fine", readStoredRevision: "unsafe-path" },
  ),
  place("a link to itself in the place of the log", "unsafe-path", (log) => {
    rmSync(log.path);
    symlinkSync("session.jsonl.zstd", log.path);
    return {};
  }),
  place(
    "a pipe in the place of the log",
    "unsafe-path",
    (log) => {
      rmSync(log.path);
      execFileSync("mkfifo", [log.path]);
      return {};
    },
    { create: "already-exists", delete: "fine" },
  ),
  place(
    "a log in the other encoding",
    "event-log-encoding-mismatch",
    (log) => {
      const location = join(log.directory, "session.jsonl");
      writeFileSync(location, "");
      return { location };
    },
    AGENTS_FINE,
  ),
  place(
    "a log in the flat layout beside the folder",
    "event-log-flat-layout",
    (log) => {
      const location = `${log.directory}.jsonl.zstd`;
      writeFileSync(location, "");
      return { location };
    },
    { readAgentSession: "fine" },
  ),
  place(
    "a second log of the session",
    "event-log-duplicate",
    (log) => {
      const twin = join(dirname(dirname(log.directory)), "--srv-beta--", "s");
      cpSync(log.directory, twin, { recursive: true });
      const header = log.headerWith({ cwd: "/srv/beta" });
      const starts = log.write(`${header}\n`);
      const frame = log.bytes.subarray(starts[0]);
      writeFileSync(join(twin, "session.jsonl.zstd"), frame);
      log.replaceLine(1, log.header);
      return { location: join(twin, "session.jsonl.zstd") };
    },
    { create: "already-exists", readAgentSession: "fine" },
  ),
  place(
    "nothing",
    "not-found",
    (log) => {
      rmSync(log.directory, { recursive: true });
      return { location: "" };
    },
    {
      create: "fine",
      readRaw: "fine",
      readStoredRevision: "fine",
      list: "fine",
      listAgentSessions: "fine",
      searchAgentSessions: "fine",
    },
  ),
  place(
    "a file in the place of the root",
    "location-gone",
    (log) => {
      rmSync(log.root, { recursive: true });
      writeFileSync(log.root, "");
      return { location: log.root };
    },
    { readAgentSession: "not-found" },
  ),
];

function breakLastFrame(log: FaultLog): FaultPlace {
  const starts = log.write(
    `${log.header}\n`,
    log.events
      .slice(0, 6)
      .map((line) => `${line}\n`)
      .join(""),
    log.events
      .slice(6)
      .map((line) => `${line}\n`)
      .join(""),
  );
  const { bytes } = log;
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  log.bytes = bytes;
  return { offset: starts[2] ?? -1 };
}
