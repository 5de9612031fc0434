/**
 * What the system refuses, at every step of every call that writes: the call answers a typed error with a place, or was
 * not in need of the step; what was acknowledged before is still there, and what was not is there in whole or not at all.
 */
import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { isStoreError, type StoreErrorCode } from "../../src/errors";
import { type EventLogBackend } from "../../src/event-log/backend";
import { WindowsPublication } from "../../src/event-log/publication";
import { type Compression, type LogEvent } from "../../src/event-log/types";
import { FailingFs } from "./failing-fs";
import { backend, freshRoot, meta, openTurn, turn } from "./support";

const SYSTEM: readonly [string, StoreErrorCode][] = [
  ["EIO", "io-error"],
  ["ENOSPC", "disk-full"],
  ["EACCES", "access-denied"],
  ["EROFS", "read-only"],
  ["EMFILE", "too-many-open-files"],
  ["short write", "disk-full"],
];

/** Codes that say what a failure means for the log instead of what the system said; the cause keeps the latter. */
const OUTCOMES: readonly StoreErrorCode[] = ["outcome-unknown", "handle-poisoned"];

function failureOf(name: string): Error | "short write" {
  return name === "short write" ? name : Object.assign(new Error(`${name}: injected`), { code: name });
}

interface Case {
  readonly name: string;
  /** Events that are stored before, and acknowledged. */
  readonly before: readonly LogEvent[];
  /** Makes of the stored log what the call finds. */
  readonly damage?: (path: string) => void;
  /** Events that the call adds. */
  readonly added: readonly LogEvent[];
  readonly isDeletion?: boolean;
  readonly call: (store: EventLogBackend, added: readonly LogEvent[]) => Promise<unknown>;
}

const first = turn(0, 1);
const second = turn(6, 2);
const open = openTurn(6, 2);

const CASES: readonly Case[] = [
  {
    name: "the first append",
    before: [],
    added: first,
    call: async (store, added) => {
      await store.create(meta("s"));
      await store.append("s", added);
    },
  },
  { name: "append", before: first, added: second, call: (store, added) => store.append("s", added) },
  {
    name: "append, then release",
    before: first,
    added: second,
    call: async (store, added) => {
      await store.append("s", added);
      await store.release("s");
    },
  },
  {
    name: "flush of the live writer",
    before: first,
    added: second,
    call: async (store, added) => {
      const writer = store.writer("s");
      for (const one of added) writer.enqueue(one);
      try {
        await writer.flush();
      } finally {
        writer.discard();
      }
    },
  },
  {
    name: "load of an interrupted session",
    before: [...first, ...open],
    added: [],
    call: (store) => store.load("s"),
  },
  {
    name: "recover of a torn log",
    before: [...first, ...open],
    damage: (path) => appendFileSync(path, Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x04])),
    added: [],
    call: (store) => store.recover("s"),
  },
  {
    name: "delete",
    before: first,
    added: [],
    isDeletion: true,
    call: (store) => store.delete("s", { confirmed: true }),
  },
];

/** A root with the events of a case, in the state that its call finds. */
async function rootOf({ before, damage }: Case, compression: Compression): Promise<string> {
  const root = freshRoot();
  mkdirSync(root);
  if (before.length === 0) return root;
  const store = backend(root, { compression });
  await store.create(meta("s"));
  await store.append("s", before);
  await store.release("s");
  damage?.(store.locate(meta("s")).path);
  return root;
}

async function run(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The stored events of the caller, without the closers of a recovery. */
async function stored(root: string, compression: Compression): Promise<readonly LogEvent[]> {
  const store = backend(root, { compression });
  const { events } = await store.load("s");
  await store.release("s");
  return events;
}

function assertTyped(error: unknown, code: StoreErrorCode, root: string, step: string | undefined): void {
  if (!isStoreError(error)) throw new Error(`not a typed error: ${String(error)}`, { cause: error });
  expect([code, ...OUTCOMES]).toContain(error.code);
  if (!(error.place.location ?? "").includes(dirname(root))) throw new Error(`no place: ${step}`, { cause: error });
  expect(error.message).not.toContain(root);
}

describe.each([
  ["zstd", "posix"],
  ["none", "posix"],
  ["zstd", "windows"],
] as const)("%s, %s publication", (compression, platform) => {
  const storeOn = (root: string, failing: FailingFs): EventLogBackend =>
    backend(root, {
      compression,
      fs: failing.fs,
      ...(platform === "windows" ? { publication: new WindowsPublication(failing.fs) } : {}),
    });

  it.each(CASES.map((one) => [one.name, one] as const))(
    "%s",
    async (_name, one) => {
      const counted = new FailingFs();
      await one.call(storeOn(await rootOf(one, compression), counted), one.added);
      const steps = [...counted.steps];
      expect(steps.length).toBeGreaterThan(one.isDeletion === true ? 1 : 2);
      let refused = 0;
      for (let step = 1; step <= steps.length; step += 1) {
        for (const [name, code] of SYSTEM) {
          if (name === "short write" && !(steps[step - 1] ?? "").startsWith("write")) continue;
          const root = await rootOf(one, compression);
          const failing = new FailingFs();
          const store = storeOn(root, failing);
          failing.arm(step, failureOf(name));
          const error = await run(() => one.call(store, one.added));
          expect(failing.failed).toBeDefined();
          failing.disarm();
          if (error !== undefined) {
            refused += 1;
            assertTyped(error, code, root, failing.failed);
          }
          await Promise.allSettled([store.dispose()]);
          const { path } = store.locate(meta("s"));
          if (one.isDeletion === true && (error === undefined || !existsSync(path))) {
            expect(existsSync(path)).toBe(false);
            continue;
          }
          if (one.before.length === 0 && !existsSync(path)) {
            expect(error).toBeDefined();
            continue;
          }
          const events = await stored(root, compression);
          const isWritten = events.length >= one.before.length + one.added.length;
          const expected = isWritten ? [...one.before, ...one.added] : one.before;
          expect(events.slice(0, expected.length)).toEqual(expected);
          expect(events.slice(expected.length).every(({ type }) => type !== "user/message")).toBe(true);
          if (error === undefined) expect(isWritten).toBe(true);
        }
      }
      expect(refused).toBeGreaterThan(0);
    },
    120_000,
  );
});
