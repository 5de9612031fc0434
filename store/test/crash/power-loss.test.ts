import { type Mutation, bundleMutant, bundleProgram, removeBundles } from "../support/program";
import { Sandbox } from "../support/sandbox";
import {
  appendSurvivesPowerLoss,
  createSurvivesPowerLoss,
  failedSyncIsNotRetried,
  type Findings,
  hasPrlimit,
  hasStrace,
  openingWritesNothing,
  recoverySurvivesPowerLoss,
  recoveryTakesTheLock,
  record,
  shortWritesAreNoticed,
} from "./checks";

// Loops of processes and syncs: generous, for a machine that does other things as well.
jest.setTimeout(600_000);

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.remove());
afterAll(removeBundles);

/** The tests that need a tool are listed as skipped, with its name, where it is missing. */
const withStrace = hasStrace ? test : test.skip;
const withPrlimit = hasPrlimit ? test : test.skip;

describe("the product (needs strace and prlimit; listed as skipped without them)", () => {
  const writer = (): string => bundleProgram("writer");

  withStrace.each([
    ["append", 30],
    ["batch", 2],
  ] as const)("power loss at any moment of %s loses no acknowledged record", async (mode, count) => {
    const { states, violations } = await appendSurvivesPowerLoss(sandbox, writer(), mode, count);
    expect(violations).toEqual([]);
    expect(states).toBeGreaterThan(2_000);
  });

  withStrace(
    "power loss at any moment of a creation loses no acknowledged session and leaves none in part",
    async () => {
      const { states, violations } = await createSurvivesPowerLoss(sandbox, writer());
      expect(violations).toEqual([]);
      expect(states).toBeGreaterThan(20);
    },
  );

  withStrace("power loss at any moment of a recovery loses neither records nor the fragment", async () => {
    const { states, violations } = await recoverySurvivesPowerLoss(sandbox, writer());
    expect(violations).toEqual([]);
    expect(states).toBeGreaterThan(10);
  });

  withPrlimit("a short write is noticed", async () => {
    expect((await shortWritesAreNoticed(sandbox, writer())).violations).toEqual([]);
  });

  withStrace("a failed sync is not retried", async () => {
    expect((await failedSyncIsNotRetried(sandbox, writer())).violations).toEqual([]);
  });

  test("opening writes nothing", async () => {
    expect((await openingWritesNothing(sandbox, writer())).violations).toEqual([]);
  });

  test("a recovery takes the lock", async () => {
    expect((await recoveryTakesTheLock(sandbox, writer())).violations).toEqual([]);
  });

  withStrace("system calls come in the order that durability needs", async () => {
    const events = await record(sandbox, writer(), ["create", sandbox.root, "1", "s"]);
    const created = events.map((event) => event.kind);
    expect(created).toEqual(["mkdir", "create", "write", "sync", "link", "unlink", "sync", "sync", "say", "say"]);
    const synced = events.filter((event) => event.kind === "sync").map((event) => event.path);
    expect(synced.slice(1)).toEqual([`${sandbox.root}/s-0`, sandbox.root]);
    const appended = await record(sandbox, writer(), ["append", `${sandbox.root}/s-0`, "3", "m"]);
    const one = ["write", "sync", "say"];
    expect(appended.map((event) => event.kind)).toEqual([...one, ...one, ...one, "say"]);
  });
});

interface PlantedFault {
  places: Mutation[];
  check: (bundle: string) => Promise<Findings>;
  /** What the check must say of it: that it noticed anything at all would be too little. */
  finds: RegExp;
  tool?: boolean;
}

const mutations: Record<string, PlantedFault> = {
  "no sync": {
    finds: /^lost \d+ acknowledged/,
    places: [{ file: "log/write-bytes.ts", from: "  try {\n    await file.sync();", to: "  try {" }],
    check: (bundle) => appendSurvivesPowerLoss(sandbox, bundle, "append", 10),
    tool: hasStrace,
  },
  "acknowledge before sync": {
    finds: /^lost \d+ acknowledged/,
    places: [
      {
        file: "log/write-bytes.ts",
        from: "  try {\n    await file.sync();",
        to: "  try {\n    setTimeout(() => void file.sync(), 5);",
      },
    ],
    check: (bundle) => appendSurvivesPowerLoss(sandbox, bundle, "append", 10),
    tool: hasStrace,
  },
  "no sync of the session folder": {
    finds: /^lost the session/,
    places: [{ file: "log/publish.ts", from: "await fs.syncDirectory(folder);", to: "" }],
    check: (bundle) => createSurvivesPowerLoss(sandbox, bundle),
    tool: hasStrace,
  },
  "no sync of the root folder": {
    finds: /^lost the session/,
    places: [{ file: "session/create.ts", from: "await fs.syncDirectory(canonicalRoot);", to: "" }],
    check: (bundle) => createSurvivesPowerLoss(sandbox, bundle),
    tool: hasStrace,
  },
  "cut off before the fragment is kept": {
    finds: /^lost the fragment/,
    places: [
      {
        file: "session/recover.ts",
        from: "const kept = await keepFragment(fs, session, file, log);",
        to: 'const kept = "nowhere";',
      },
    ],
    check: (bundle) => recoverySurvivesPowerLoss(sandbox, bundle),
    tool: hasStrace,
  },
  "ignore a short write": {
    finds: /short write/,
    places: [{ file: "platform/whole-file.ts", from: "done += bytesWritten;", to: "done = bytes.length;" }],
    check: (bundle) => shortWritesAreNoticed(sandbox, bundle),
    tool: hasPrlimit,
  },
  "retry a failed sync": {
    finds: /^acknowledged .*ack m-2/,
    places: [
      {
        file: "log/write-bytes.ts",
        from: "  try {\n    await file.sync();",
        to: "  try {\n    await file.sync().catch(() => file.sync());",
      },
    ],
    check: (bundle) => failedSyncIsNotRetried(sandbox, bundle),
    tool: hasStrace,
  },
  "opening repairs": {
    finds: /^opening changed the log/,
    places: [
      {
        file: "session/session.ts",
        from: "const log = await scanLog(file, options);",
        to: 'const log = await scanLog(file, options);\n    require("node:fs").truncateSync(join(directory.path, LOG_NAME), log.committedBytes);',
      },
    ],
    check: (bundle) => openingWritesNothing(sandbox, bundle),
  },
  "truncate without the lock": {
    finds: /under somebody else's lock/,
    places: [
      {
        file: "session/recover.ts",
        from: "context.lock.withLock(",
        to: "(async (_target: unknown, _wait: unknown, body: any) => body({ assertHeld() {} }))(",
      },
    ],
    check: (bundle) => recoveryTakesTheLock(sandbox, bundle),
  },
};

describe("a product with a planted fault is found out", () => {
  for (const [name, { places, check, finds, tool }] of Object.entries(mutations)) {
    (tool === false ? test.skip : test)(name, async () => {
      const { violations } = await check(await bundleMutant("writer", places));
      expect(violations).toContainEqual(expect.stringMatching(finds));
    });
  }
});
