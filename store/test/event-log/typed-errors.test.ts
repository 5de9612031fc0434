/**
 * Every failure that a stored log can give a call is a StoreError with its code and place: path, and line or byte where
 * a part of the log is at fault. What the system refuses is in `system-failures.test.ts`.
 */
import { dirname } from "node:path";
import { isStoreError, StoreError } from "../../src/errors";
import { listAgentSessions, readAgentSession, searchAgentSessions } from "../../src/event-log/agent-sessions";
import { EventLogBackend } from "../../src/event-log/backend";
import { type LogProblem } from "../../src/event-log/discovery";
import { FaultLog } from "./fault-log";
import { CALLS, FAULTS, type Call } from "./fault-table";
import { backend, meta, turn } from "./support";

async function drain(pieces: AsyncIterable<unknown>): Promise<void> {
  for await (const _piece of pieces) continue;
}

/** Follows until the newest event of the template was seen, or the log has nothing for it. */
async function followed(store: EventLogBackend): Promise<void> {
  for await (const event of store.follow("s", { fromSeq: 8, pollMs: 1 })) if (event.seq === 11) return;
}

/** A problem of a listing as the error that it stands for. */
function rejectProblems(problems: readonly LogProblem[]): void {
  const [problem] = problems;
  if (problem === undefined) return;
  const { code, message, path, line, offset } = problem;
  throw new StoreError(code, {
    message,
    location: path,
    ...(line === undefined ? {} : { line }),
    ...(offset === undefined ? {} : { offset }),
  });
}

const CALL: Record<Call, (store: EventLogBackend, log: FaultLog) => Promise<unknown>> = {
  create: (store) => store.create(meta("s")),
  append: (store) => store.append("s", turn(12, 3)),
  async writer(store) {
    const writer = store.writer("s");
    for (const event of turn(12, 3)) writer.enqueue(event);
    try {
      await writer.flush();
    } finally {
      writer.discard();
    }
  },
  load: (store) => store.load("s"),
  inspect: (store) => store.inspect("s"),
  "readFrom 0": (store) => store.readFrom("s", 0),
  "readFrom 8": (store) => store.readFrom("s", 8),
  iterate: (store) => drain(store.iterate("s")),
  readRaw: (store) => store.readRaw("s"),
  follow: followed,
  export: (store) => drain(store.export("s", "jsonl")),
  readStoredRevision: (store) => store.readStoredRevision("s"),
  list: async (store) => rejectProblems((await store.list()).problems),
  verify: (store) => store.verify("s"),
  recover: (store) => store.recover("s"),
  salvage: (store) => store.recover("s", { salvage: true }),
  delete: (store) => store.delete("s", { confirmed: true }),
  release: (store) => store.release("s"),
  listAgentSessions: async (_store, log) => rejectProblems((await listAgentSessions([log.root])).problems),
  searchAgentSessions: async (_store, log) => rejectProblems((await searchAgentSessions([log.root], "zebra")).problems),
  readAgentSession: (_store, log) => readAgentSession({ root: log.root, location: log.directory }),
};

async function outcomeOf(work: () => Promise<unknown>): Promise<StoreError | "fine"> {
  try {
    await work();
    return "fine";
  } catch (error) {
    if (isStoreError(error)) return error;
    throw new Error(`not a typed error: ${String(error)}`, { cause: error });
  }
}

it("the table has every public method", () => {
  const { constructor: _made, ...methods } = Object.getOwnPropertyDescriptors(EventLogBackend.prototype);
  const named = Object.entries(methods).flatMap(([name, { value }]) => (typeof value === "function" ? [name] : []));
  const inTable = new Set(CALLS.map((call) => call.split(" ")[0]).concat("recover", "locate", "dispose"));
  expect(named.filter((name) => !inTable.has(name))).toEqual([]);
});

describe.each(FAULTS.map((fault) => [fault.name, fault] as const))("%s", (_name, fault) => {
  it.each(CALLS.map((call) => [call, fault.answers[call]] as const))("%s: %s", async (call, answer) => {
    const log = await FaultLog.of(fault.compression);
    const store = backend(log.root, { compression: fault.compression, ...fault.options });
    const { location = log.path, ...place } = fault.plant(log);
    const outcome = await outcomeOf(() => CALL[call](store, log));
    if (outcome === "fine" || answer === "fine") {
      expect(outcome).toBe(answer);
      return;
    }
    const isFault = answer === fault.code;
    const isPath = location !== "" && answer !== "not-found";
    expect({ code: outcome.code, place: outcome.place }).toEqual({
      code: answer,
      place: expect.objectContaining({
        ...(isPath ? { location: isFault ? location : expect.stringContaining(dirname(log.root)) } : {}),
        ...(isFault ? place : {}),
      }),
    });
  });
});

it("a problem of an agent session is told of at every listing, not only when its log was read first", async () => {
  const log = await FaultLog.of("zstd");
  log.replaceLine(9, "null");
  const first = await listAgentSessions([log.root]);
  expect(first.problems).toMatchObject([{ code: "event-log-corrupt", path: log.path, line: 9, sessionId: "s" }]);
  expect(await listAgentSessions([log.root])).toEqual(first);
});
