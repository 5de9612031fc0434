/** Every stored case: roots that the reference wrote, and changed copies of them, with the reference's answers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { isStoreError } from "../../src/errors";
import { type EventLogBackend } from "../../src/event-log/backend";
import { type Compression } from "../../src/event-log/types";
import { backend, copyRoot, FIXTURES, onlyLog, sha256, treeOf } from "./support";

const answer = z.union([
  z.object({ ok: z.any() }),
  z.object({ error: z.object({ name: z.string(), message: z.string() }).loose() }),
]);
const config = z.object({ compression: z.enum(["zstd", "none"]).optional() }).loose();
const manifest = z
  .object({
    samples: z.array(
      z.object({
        name: z.string(),
        config,
        ids: z.array(z.string()),
        after: z.unknown(),
        expected: z.object({
          list: answer,
          sessions: z.record(z.string(), z.object({ readRaw: answer, readFrom0: answer, inspect: answer }).loose()),
        }),
      }),
    ),
    variants: z.array(
      z.object({
        name: z.string(),
        config,
        id: z.string(),
        op: z.string(),
        list: answer,
        inspect: answer,
        load: answer,
        fileChangedByLoad: z.boolean(),
        afterLoad: z.object({ sha256: z.string() }).loose().optional(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(join(FIXTURES, "manifest.json"), "utf8")));

/** Reading a project directory of another platform is refused by the reference only because of where it runs. */
const READ_ANYWHERE = "header cwd must be an absolute path";

async function outcome<T>(promise: Promise<T>): Promise<{ ok: T } | { code: string; message: string }> {
  try {
    return { ok: await promise };
  } catch (error) {
    if (!isStoreError(error)) throw error;
    return { code: error.code, message: error.message };
  }
}

function unescapeId(name: string): string {
  return name.replace(/\\u([0-9a-f]{4})/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

function codeFor(name: string, message: string): string {
  if (name === "SessionFormatUnsupportedError") return "event-log-unsupported";
  if (/identify "|does not match header id/.test(message)) return "event-log-identity-mismatch";
  return "event-log-corrupt";
}

async function digest(store: EventLogBackend, id: string, via: "inspect" | "load"): Promise<unknown> {
  const { events } = await store[via](id);
  return { count: events.length, sha256: sha256(JSON.stringify(events)) };
}

function compressionOf(settings: { compression?: Compression | undefined }): { compression: Compression } {
  return { compression: settings.compression ?? "zstd" };
}

describe.each(manifest.samples.map((sample) => [sample.name, sample] as const))("sample %s", (name, sample) => {
  const before = join(FIXTURES, name, "before");
  const options = compressionOf(sample.config);

  it("is listed from its headers alone", async () => {
    const { sessions, problems } = await backend(before, options).list();
    if (!("ok" in sample.expected.list)) throw new Error("the reference lists every sample");
    const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
    expect(sessions.map((entry) => entry.header).sort(byId)).toEqual([...sample.expected.list.ok].sort(byId));
    expect(problems).toEqual([]);
  });

  it.each(Object.entries(sample.expected.sessions))("session %j is read as the reference reads it", async (key, is) => {
    const id = unescapeId(key);
    const store = backend(before, options);
    const tree = treeOf(before);
    const raw = await store.readRaw(id, { includeTorn: true });
    if ("ok" in is.readRaw) {
      expect({ meta: raw?.meta, filename: raw?.filename, contentSha256: sha256(raw?.content ?? "") }).toEqual({
        meta: is.readRaw.ok.meta,
        filename: is.readRaw.ok.filename,
        contentSha256: is.readRaw.ok.contentSha256,
      });
    }
    if ("ok" in is.readFrom0) {
      const { events } = await store.readFrom(id, 0);
      expect(sha256(JSON.stringify(events))).toBe(is.readFrom0.ok.eventsSha256);
      for (const from of [1, Math.floor(events.length / 2), events.length - 1, events.length, events.length + 5]) {
        expect((await store.readFrom(id, from)).events).toEqual(events.slice(from));
      }
    }
    const view = await outcome(store.inspect(id));
    if ("ok" in is.inspect) {
      expect("ok" in view ? { meta: view.ok.meta, events: view.ok.events } : view).toEqual(is.inspect.ok);
      expect(JSON.stringify("ok" in view ? view.ok.events : view)).toBe(JSON.stringify(is.inspect.ok.events));
    } else {
      expect(is.inspect.error.message).toContain(READ_ANYWHERE);
      expect(view).toHaveProperty("ok");
    }
    expect(treeOf(before)).toEqual(tree);
  });

  it("is left by load as the reference leaves it", async () => {
    const root = copyRoot(before);
    const store = backend(root, options);
    for (const id of sample.ids.map(unescapeId)) {
      const inspected = await store.inspect(id);
      const revision = await store.readStoredRevision(id);
      const loaded = await store.load(id);
      expect(loaded.events).toEqual(inspected.events);
      const changed = (await store.readStoredRevision(id)) !== revision;
      expect(changed).toBe(sample.after !== "unchanged by load()");
      const wanted = backend(sample.after === "unchanged by load()" ? before : join(FIXTURES, name, "after"), options);
      expect((await store.readRaw(id))?.content).toBe((await wanted.readRaw(id))?.content);
      // A second load finds nothing to do.
      const after = treeOf(root);
      expect((await store.load(id)).events).toEqual(loaded.events);
      expect(treeOf(root)).toEqual(after);
    }
  });
});

describe.each(manifest.variants.map((variant) => [variant.name, variant] as const))("variant %s", (name, variant) => {
  const stored = join(FIXTURES, "variants", name);
  const options = compressionOf(variant.config);

  it(`is accepted or refused as by the reference: ${variant.op}`, async () => {
    const store = backend(stored, options);
    const { sessions, problems } = await store.list();
    const listed = sessions.map((entry) => entry.header.id);
    if ("ok" in variant.list) {
      expect(listed).toEqual(variant.list.ok);
      if (variant.list.ok.length === 0) expect(problems.length).toBe(1);
    } else {
      // There the whole call rejects; here the one log is named and the others would be listed.
      expect(listed).toEqual([]);
      expect(problems).toMatchObject([{ code: expect.stringMatching(/^event-log-/), path: onlyLog(stored) }]);
    }
    for (const via of ["inspect", "load"] as const) {
      const expected = variant[via];
      const root = via === "load" ? copyRoot(stored) : stored;
      const got = await outcome(digest(backend(root, options), variant.id, via));
      if ("ok" in expected) {
        expect(got).toEqual({ ok: { count: expected.ok.count, sha256: expected.ok.sha256 } });
      } else {
        const { message } = expected.error;
        expect(got).toMatchObject({ code: codeFor(expected.error.name, message) });
        // Damage is described in the same words.
        if (/^(corrupt (Zstandard )?session log:|empty or header-less)/.test(message)) {
          expect(got).toMatchObject({ message });
        }
      }
    }
  });

  it("changes on disk only what a torn tail needs", async () => {
    const root = copyRoot(stored);
    const before = readFileSync(onlyLog(root));
    const store = backend(root, options);
    await outcome(store.load(variant.id));
    const after = readFileSync(onlyLog(root));
    if (variant.fileChangedByLoad && name !== "e-row-bad-dt") {
      expect(after.equals(before)).toBe(false);
      const { content } = (await store.readRaw(variant.id)) ?? { content: "" };
      if (options.compression === "none") expect(sha256(content)).toBe(variant.afterLoad?.sha256);
    } else {
      expect(after.equals(before)).toBe(true);
    }
  });
});
