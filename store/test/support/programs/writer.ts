/**
 * Changes sessions as told and acknowledges each step on standard output, in one write a line, when it is durable:
 * `writer <lock folder> <mode> <place> [count] [name]`.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { wavHeader } from "../../../src/assets/wav-format";
import { type EntryInput } from "../../../src/format/schema";
import { lockDescriptor } from "../../../src/lock/capture-lock";
import { LayeredLock } from "../../../src/lock/session-lock";
import { createSession } from "../../../src/session/create";
import { deleteSession } from "../../../src/session/delete";
import { nodeFileSystem, type FileSystem, type OpenFile } from "../../../src/platform/fs";
import { openSession, type Session } from "../../../src/session/session";
import { defaultStoreContext } from "../../../src/session/store-context";

const [locks = "", mode = "", place = "", countText = "1", name = "m"] = process.argv.slice(2);
const count = Number(countText);
const staleMs = Number(process.env["LOCK_STALE_MS"] ?? "5000");
const context = defaultStoreContext({
  fs: stallingFileSystem(),
  lock: new LayeredLock({ directory: locks, times: { staleMs, updateMs: 1_000 } }),
});

/**
 * With STALL_AT (`stat`, before the last look at the lock, or `write`, after it) and STALL_UNTIL, a path: the thread is
 * blocked in that call of the third append, as by an endless loop, until the path exists. No timer runs meanwhile.
 */
function stallingFileSystem(): FileSystem {
  const { STALL_AT: at, STALL_UNTIL: path } = process.env;
  if (at === undefined || path === undefined) return nodeFileSystem;
  let calls = 0;
  const stall = (call: string): void => {
    if (call !== at || (calls += 1) !== 3) return;
    say("stalled");
    const cell = new Int32Array(new SharedArrayBuffer(4));
    while (!fs.existsSync(path)) Atomics.wait(cell, 0, 0, 5);
    say("awake");
  };
  return {
    ...nodeFileSystem,
    async open(file, openMode): Promise<OpenFile> {
      const opened = await nodeFileSystem.open(file, openMode);
      if (openMode !== "append") return opened;
      return {
        fd: opened.fd,
        read: (buffer, offset, length, position) => opened.read(buffer, offset, length, position),
        async write(buffer, offset, length, position) {
          stall("write");
          return opened.write(buffer, offset, length, position);
        },
        async stat(options) {
          stall("stat");
          return opened.stat(options);
        },
        sync: () => opened.sync(),
        truncate: (length) => opened.truncate(length),
        close: () => opened.close(),
      };
    },
  };
}

function say(line: string): void {
  fs.writeSync(1, `${line}\n`);
}

function message(id: string): EntryInput {
  const text = `text of ${id} ${"x".repeat(Number(process.env["TEXT_BYTES"] ?? "20"))}`;
  return { type: "message", id, message: { role: "user", timestamp: 1, content: [{ type: "text", text }] } };
}

const modes: Record<string, () => Promise<void>> = {
  /** Appends messages one by one, each after its own last one. */
  async append() {
    const session = await openSession(place, context);
    const continuation = session.continuation(null);
    for (let index = 0; index < count; index += 1) {
      const id = `${name}-${index}`;
      await continuation.append([message(id)]);
      say(`ack ${id}`);
    }
  },

  /** Appends one message a line of standard input, at the time that the line names, to the millisecond. */
  async race() {
    const session = await openSession(place, context);
    const continuation = session.continuation(null);
    say("ready");
    let index = 0;
    for await (const line of createInterface({ input: process.stdin })) {
      await delay(Math.max(0, Number(line) - Date.now() - 2));
      while (Date.now() < Number(line)) continue;
      const id = `${name}-${index}`;
      await continuation.append([message(id)]);
      index += 1;
      say(`ack ${id}`);
    }
  },

  async batch() {
    const session = await openSession(place, context);
    const continuation = session.continuation(null);
    for (let index = 0; index < count; index += 1) {
      const ids = Array.from({ length: 16 }, (_, member) => `${name}-${index}-${member}`);
      await continuation.append(ids.map(message));
      say(`ack ${ids.join(" ")}`);
    }
  },

  async create() {
    for (let index = 0; index < count; index += 1) {
      const session = await createSession(place, context, { id: `${name}-${index}` });
      say(`ack ${session.id}`);
      await session.close();
    }
  },

  /** Tears and recovers over and over; the fragment of a round is its number. */
  async recover() {
    const session = await openSession(place, context);
    for (let index = 0; index < count; index += 1) {
      const torn = `{"type":"message","id":"torn-${name}-${index}"`;
      fs.appendFileSync(join(place, "session.jsonl"), torn);
      say(`torn ${torn}`);
      await session.recover();
      await session.append([message(`${name}-${index}`)], { parentId: null });
      say(`ack ${name}-${index}`);
    }
  },

  /** One recovery of what is there. */
  async "recover-once"() {
    say("start");
    const session = await openSession(place, context);
    const { action } = await session.recover();
    say(`recovered ${action}`);
  },

  /** Opens and says what is found. */
  async open() {
    const session = await openSession(place, context);
    say(`verdict ${session.verdict}`);
    await session.close();
  },

  async delete() {
    for (const child of fs.readdirSync(place).filter((entry) => !entry.startsWith("."))) {
      say(`deleting ${child}`);
      await deleteSession(join(place, child), context, { confirmed: true });
      say(`ack ${child}`);
    }
  },

  /** Plays the capture helper and the host in one: holds the lock of the WAV and writes to it and to the log. */
  async capture() {
    const session: Session = await createSession(place, context, { id: name });
    const recordingId = "r1";
    const { handle, reference } = await session.createAsset(`${recordingId}.wav`, "audio/wav");
    if ((await lockDescriptor(handle.fd)) !== "locked") throw new Error("somebody else records here");
    fs.writeSync(handle.fd, wavHeader(0), 0, 44, 0);
    fs.fsyncSync(handle.fd);
    await session.append([{ type: "recording.started", recordingId, asset: reference }], { parentId: null });
    const continuation = session.continuation();
    say(`ready ${session.location}`);
    for (let index = 0; index < count; index += 1) {
      const samples = Buffer.alloc(480, index % 251);
      fs.writeSync(handle.fd, samples, 0, samples.length, 44 + index * samples.length);
      if (index % 5 === 4) fs.writeSync(handle.fd, wavHeader((index + 1) * samples.length), 0, 44, 0);
      await continuation.append([message(`${name}-${index}`)]);
      say(`ack ${name}-${index} ${index + 1}`);
    }
  },
};

// As the command line does: a size limit is an error to report, not a reason to die in the middle of a write.
process.on("SIGXFSZ", () => undefined);

const run = modes[mode];
if (run === undefined) throw new Error(`no such mode: ${mode}`);
run().then(
  () => {
    say("done");
    process.exit(0);
  },
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
