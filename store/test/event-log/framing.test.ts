import { readFileSync, writeFileSync } from "node:fs";
import * as zlib from "node:zlib";
import { isStoreError, type StoreError } from "../../src/errors";
import { type EventLogBackend } from "../../src/event-log/backend";
import { walkFrame } from "../../src/event-log/frames";
import { type Compression, type LogEvent } from "../../src/event-log/types";
import { backend, freshRoot, meta, openTurn, turn, userMessage } from "./support";

/** What the descriptor of a frame says (RFC 8878, 3.1.1.1.1). */
function descriptorOf(frame: Buffer): { hasChecksum: boolean; hasContentSize: boolean } {
  const descriptor = frame.readUInt8(4);
  return { hasChecksum: (descriptor & 4) !== 0, hasContentSize: descriptor >>> 6 !== 0 || (descriptor & 0x20) !== 0 };
}

function framesOf(path: string): { offset: number; bytes: Buffer; contentSize: number | undefined; text: string }[] {
  const log = readFileSync(path);
  const frames = [];
  for (let offset = 0; offset < log.length;) {
    const walk = walkFrame(log, offset);
    if (walk.kind !== "complete") throw new Error(`a torn frame at ${offset}`);
    const bytes = log.subarray(offset, walk.end);
    const text = zlib.zstdDecompressSync(bytes).toString();
    frames.push({ offset, bytes, contentSize: walk.contentSize, text });
    offset = walk.end;
  }
  return frames;
}

async function logOf(batches: readonly (readonly LogEvent[])[], compression: Compression = "zstd") {
  const store = backend(freshRoot(), { compression, packChunks: false });
  await store.create(meta("s"));
  for (const batch of batches) await store.append("s", batch);
  await store.release("s");
  return { store, path: store.locate(meta("s")).path };
}

it("each batch is one frame with its checksum and its content size, and the header is one of its own", async () => {
  const large = userMessage(7, "long ".repeat(400_000));
  const batches = [turn(0, 1), [userMessage(6, "x")], [large], turn(8, 2, 300)];
  const { path } = await logOf(batches);
  const frames = framesOf(path);
  expect(frames.map(({ text }) => text.split("\n").length - 1)).toEqual([1, ...batches.map(({ length }) => length)]);
  for (const { bytes, contentSize, text } of frames) {
    expect(descriptorOf(bytes)).toEqual({ hasChecksum: true, hasContentSize: true });
    expect(contentSize).toBe(Buffer.byteLength(text));
    expect(text.endsWith("\n")).toBe(true);
  }
});

it("the closers of a repair are one frame of the same form", async () => {
  const { store, path } = await logOf([openTurn(0, 1)]);
  const before = framesOf(path).length;
  await store.load("s");
  const frames = framesOf(path);
  expect(frames.length).toBe(before + 1);
  expect(descriptorOf(frames.at(-1)?.bytes ?? Buffer.alloc(5))).toEqual({ hasChecksum: true, hasContentSize: true });
});

const reads: readonly (readonly [string, (store: EventLogBackend) => Promise<unknown>])[] = [
  ["inspect", (store) => store.inspect("s")],
  ["load", (store) => store.load("s")],
  ["readFrom", (store) => store.readFrom("s", 0)],
  ["verify", (store) => store.verify("s")],
  ["append", (store) => store.append("s", turn(12, 3))],
  ["recover", (store) => store.recover("s")],
  [
    "iterate",
    async (store) => {
      for await (const event of store.iterate("s")) expect(event.seq).toBeGreaterThanOrEqual(0);
    },
  ],
  [
    "export",
    async (store) => {
      for await (const text of store.export("s", "jsonl")) expect(typeof text).toBe("string");
    },
  ],
];

async function failureOf(work: Promise<unknown>): Promise<StoreError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isStoreError(error)) throw new Error(`no typed error: ${String(error)}`);
  return error;
}

describe.each(reads)("an error of %s says where", (_name, read) => {
  it("the byte of a frame whose checksum is wrong", async () => {
    const { store, path } = await logOf([turn(0, 1), turn(6, 2)]);
    const [, , last] = framesOf(path);
    const log = readFileSync(path);
    log.writeUInt8(log.readUInt8(log.length - 1) ^ 1, log.length - 1);
    writeFileSync(path, log);
    const { code, place } = await failureOf(read(backend(store.root)));
    expect({ code, place }).toEqual({
      code: "event-log-corrupt",
      place: expect.objectContaining({ location: path, sessionId: "s", offset: last?.offset }),
    });
  });

  it("the byte of what is no frame", async () => {
    const { store, path } = await logOf([turn(0, 1)]);
    const { length } = readFileSync(path);
    writeFileSync(path, "garbage", { flag: "a" });
    const { code, place } = await failureOf(read(backend(store.root)));
    expect({ code, place }).toEqual({
      code: "event-log-corrupt",
      place: expect.objectContaining({ location: path, sessionId: "s", offset: length }),
    });
  });

  it("the line and byte of a record that is none, before the end of a turn", async () => {
    const { store, path } = await logOf([turn(0, 1), turn(6, 2)], "none");
    const lines = readFileSync(path, "utf8").split("\n");
    const offset = Buffer.byteLength(`${lines.slice(0, 4).join("\n")}\n`);
    lines[4] = "{no json";
    writeFileSync(path, lines.join("\n"));
    const { code, place } = await failureOf(read(backend(store.root, { compression: "none" })));
    expect({ code, place }).toEqual({
      code: "event-log-corrupt",
      place: expect.objectContaining({ location: path, sessionId: "s", line: 5, offset }),
    });
  });
});
