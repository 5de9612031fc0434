import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, renameSync, symlinkSync, writeFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { Library } from "../../src/library/library";
import { type LibraryDiagnostic, type SearchHit } from "../../src/library/types";
import { openSession } from "../../src/session/session";
import { hardText, needleOf, otherSpelling } from "./hard-text";
import { type Fields, LogText, temporaryFolder, writeSession } from "./sessions";

const folder = temporaryFolder();
let roots = 0;
const newRoot = (): string => {
  roots += 1;
  const root = path.join(folder, `root-${roots}`);
  mkdirSync(root);
  return root;
};

async function hitsOf(root: string, text: string): Promise<SearchHit[]> {
  return (await new Library({ writeRoot: root }).search(text, { limit: 10_000 })).hits;
}

async function matches(texts: string | readonly unknown[], needle: string): Promise<boolean> {
  const root = newRoot();
  const log = new LogText("session-1");
  log.entry("session_info", { name: "-" });
  log.user(texts);
  writeSession(root, "one", log);
  return (await hitsOf(root, needle)).length === 1;
}

describe("what matches what", () => {
  test.each<[needle: string, text: string, expected: boolean, why: string]>([
    ["MEETING", "a meeting", true, "case"],
    ["STRASSE", "Straße", false, "ß is not ss"],
    ["STRA\u1e9eE", "Straße", true, "capital sharp s"],
    ["\u00e9cole", "\u00c9cole", true, "composed, other case"],
    ["\u00e9cole", "e\u0301cole", false, "composed in decomposed"],
    ["e\u0301cole", "\u00e9cole", false, "decomposed in composed"],
    ["E\u0301COLE", "e\u0301cole", true, "decomposed, other case"],
    ["ecole", "e\u0301cole", false, "the accent stands between"],
    ["e", "e\u0301", true, "base letter of a decomposed one"],
    ["istanbul", "\u0130stanbul", false, "dotted capital I folds to two code points"],
    ["i\u0307stanbul", "\u0130stanbul", true, "and those two match"],
    ["i", "\u0130", true, "the first of the two"],
    ["\u0307", "\u0130", true, "the second of the two"],
    ["ISTANBUL", "\u0131stanbul", false, "dotless i stays itself"],
    ["\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c3", true, "capital sigma folds to the medial one"],
    ["\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2", false, "final sigma stays itself"],
    ["\u03bf\u03b4\u03bf\u03c3", "\u039f\u0394\u039f\u03a3 ", true, "at the end of a word as well"],
    ["kelvin", "\u212aelvin", true, "the Kelvin sign"],
    ["\u212aELVIN", "kelvin", true, "and the other way"],
    ["\u{10428}", "\u{10400}", true, "surrogate pairs"],
    ["\ud801", "\u{10400}", false, "half of a pair"],
    ["\u30ac", "\u304c", false, "katakana in hiragana"],
    ["\uff76\uff9e", "\u30ac", false, "half width in full width"],
    ["\uff76\uff9e", "x\uff76\uff9ey", true, "half width with its voiced mark"],
    ["\u30ab", "\u30ab\u3099", true, "before a combining voiced mark"],
    ["\u30ab", "\u30ac", false, "in the composed one"],
    ["\u0633\u0644\u0627\u0645", "\u0627\u0644\u0633\u0644\u0627\u0645", true, "Arabic"],
    ["\u0e44\u0e17\u0e22", "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22", true, "Thai"],
    ["\u6f22\u5b57", "\u6f22\u5b57\u304b\u306a", true, "CJK"],
    ["<b>&amp;", "a <B>&AMP; b", true, "markup"],
    ['"QUOTED"', 'a "quoted" b', true, "quotes"],
    ["a\\b/c", "A\\B/C", true, "slashes of both kinds"],
    ["two\nlines", "TWO\nLINES", true, "a line break"],
    ["\u2028", "a\u2028b", true, "a line separator"],
    ["message", "nothing", false, "a word of the format"],
  ])("%j in %j: %s (%s)", async (needle, text, expected) => {
    expect(await matches(text, needle)).toBe(expected);
  });

  test("text crosses blocks at a line break, never messages", async () => {
    const blocks = [
      { type: "text", text: "first half" },
      { type: "text", text: "second half" },
    ];
    expect(await matches(blocks, "half\nsecond")).toBe(true);
    const root = newRoot();
    const log = new LogText("session-1");
    log.user("first half");
    log.user("second half");
    writeSession(root, "one", log);
    expect(await hitsOf(root, "half\nsecond")).toEqual([]);
    expect(await hitsOf(root, "second half")).toHaveLength(1);
  });

  test("an escaped spelling in the file is the same text", async () => {
    const root = newRoot();
    const log = new LogText("session-1");
    log.user("PLACEHOLDER");
    writeSession(root, "one", log.toString().replace("PLACEHOLDER", "caf\\u00e9 \\u0041nd \\/more\\ud83d\\ude00"));
    for (const needle of ["CAFÉ AND", "/more", "\u{1f600}", "and /"])
      expect(await hitsOf(root, needle)).toHaveLength(1);
  });
});

describe("what is searched", () => {
  test("labels, names and surviving text of the default branch; nothing else", async () => {
    const root = newRoot();
    const log = new LogText("id-needle");
    const first = log.user("kept words");
    const removed = log.user("removed words");
    log.remove(removed);
    const sibling = log.user("sibling words", first);
    log.entry("label", { targetId: sibling, label: "sibling label" }, sibling);
    log.entry(
      "custom_message",
      { customType: "note", content: "custom words", display: true, details: { a: "detail words" } },
      first,
    );
    log.entry("custom", { customType: "state", data: { text: "state words" } });
    log.entry("api_connection", {
      connectionId: "c1",
      provider: "p",
      endpoint: "wss://x.invalid",
      requestedModel: "m",
      api: "a",
      originId: "o",
    });
    log.entry("realtime_event", {
      connectionId: "c1",
      direction: "incoming",
      observation: "received",
      observedAt: "2026-01-01T00:00:00Z",
      sequence: 1,
      payload: { type: "delta", delta: "provider words" },
    });
    log.message("assistant", [
      { type: "thinking", thinking: "thought words" },
      { type: "text", text: "answer words" },
    ]);
    log.entry("label", { targetId: first, label: "old label" });
    log.entry("label", { targetId: first, label: "new label" });
    log.entry("session_info", { name: "The Name" });
    writeSession(root, "one", log);
    const found = async (needle: string): Promise<string | null> => (await hitsOf(root, needle))[0]?.field ?? null;
    expect(await found("KEPT WORDS")).toBe("text");
    expect(await found("custom words")).toBe("text");
    expect(await found("answer words")).toBe("text");
    expect(await found("new label")).toBe("label");
    expect(await found("the name")).toBe("name");
    const not = [
      "removed words",
      "sibling words",
      "sibling label",
      "detail words",
      "state words",
      "provider words",
      "thought words",
      "old label",
      "id-needle",
      "kept words removed",
    ];
    for (const needle of not) expect([needle, await found(needle)]).toEqual([needle, null]);
  });

  test("a torn tail is searched as far as it is committed; bad logs are reported and hide nothing", async () => {
    const root = newRoot();
    const good = new LogText("good");
    good.user("needle here");
    writeSession(root, "good", good);
    writeSession(root, "torn", `${good.toString().replace('"good"', '"torn"')}{"type":"message","id":"x`);
    writeSession(
      root,
      "blocked",
      `${good.toString().replace('"good"', '"blocked"')}{"type":"needle","id":"x","parentId":null,"timestamp":"2026-01-01T00:00:00Z"}\n`,
    );
    writeSession(
      root,
      "corrupt",
      `${good.toString().replace('"good"', '"corrupt"')}{"needle":\n${good.lines[1] ?? ""}\n`,
    );
    const { hits, diagnostics } = await new Library({ writeRoot: root }).search("needle");
    expect(hits.map((hit) => hit.id).sort()).toEqual(["good", "torn"]);
    expect(diagnostics.map(({ code, location }) => [code, path.basename(location ?? "")]).sort()).toEqual([
      ["session-blocked", "blocked"],
      ["session-corrupt", "corrupt"],
    ]);
    expect(JSON.stringify(diagnostics)).not.toContain("needle here");
  });
});

interface Plan {
  texts: string[];
  needle: string;
  shape: number[];
  respell: boolean;
}

/** A session with branches, removals, labels and names, all from the plan's numbers. */
function build(id: string, plan: Plan): LogText {
  const log = new LogText(id);
  const messages: { id: string; path: string[] }[] = [];
  let at: string[] = [];
  const numbers = [...plan.shape];
  for (const text of plan.texts) {
    const number = numbers.shift() ?? 0;
    const fields: Fields = { customType: "note", content: text, display: true };
    switch (number % 8) {
      case 0:
        at = [...at, log.entry("custom_message", fields, at.at(-1) ?? null)];
        messages.push({ id: at.at(-1) ?? "", path: at });
        break;
      case 1:
        at = [...at, log.entry("session_info", { name: text }, at.at(-1) ?? null)];
        break;
      case 2:
        if (messages.length > 0) {
          const target = messages[number % messages.length];
          at = [...at, log.entry("label", { targetId: target?.id, label: text }, at.at(-1) ?? null)];
        }
        break;
      case 3: {
        const removable = messages.filter((message) => at.includes(message.id));
        const target = removable[number % Math.max(1, removable.length)];
        if (target !== undefined)
          at = [...at, log.entry("message.removed", { targetId: target.id }, at.at(-1) ?? null)];
        break;
      }
      case 4:
        // Go back to an earlier message: what came after it is another branch.
        at = messages.length === 0 ? [] : (messages[number % messages.length]?.path ?? []);
        at = [...at, log.message("user", text, at.at(-1) ?? null)];
        messages.push({ id: at.at(-1) ?? "", path: at });
        break;
      default:
        at = [
          ...at,
          log.message(
            number % 2 === 0 ? "user" : "assistant",
            [
              { type: "text", text },
              { type: "text", text: [...text].slice(1).join("") },
            ],
            at.at(-1) ?? null,
          ),
        ];
        messages.push({ id: at.at(-1) ?? "", path: at });
    }
  }
  return log;
}

const foldNaively = (text: string): string => [...text].map((character) => character.toLowerCase()).join("");

/** The definition, from the lines of the file: parse everything, walk the ancestry, look. */
async function naiveScan(location: string, lines: readonly string[], needle: string): Promise<boolean> {
  const folded = foldNaively(needle);
  const entries = lines.slice(1).map((line) => JSON.parse(line) as Record<string, unknown>);
  const byId = new Map(entries.map((entry) => [entry["id"] as string, entry]));
  const chain: Record<string, unknown>[] = [];
  for (let id = (entries.at(-1)?.["id"] ?? null) as string | null; id !== null;) {
    const entry: Record<string, unknown> | undefined = byId.get(id);
    if (entry === undefined) throw new Error("the plan made a broken log");
    chain.push(entry);
    id = entry["parentId"] as string | null;
  }
  const onBranch = new Set(chain.map((entry) => entry["id"]));
  const removed = new Set(
    chain.filter((entry) => entry["type"] === "message.removed").map((entry) => entry["targetId"]),
  );
  const texts: string[] = [];
  for (const entry of chain) {
    if (removed.has(entry["id"])) continue;
    const { message } = entry as { message?: { content: { text: string }[] } };
    if (entry["type"] === "custom_message") texts.push(entry["content"] as string);
    if (message !== undefined) texts.push(message.content.map((block) => block.text).join("\n"));
  }
  const labels = new Map<unknown, string>();
  for (const entry of entries as Record<string, unknown>[]) {
    if (entry["type"] === "label" && onBranch.has(entry["targetId"]))
      labels.set(entry["targetId"], entry["label"] as string);
  }
  // How a label is derived is the session's own business; that it is searched is the library's.
  const session = await openSession(location);
  if (session.verdict !== "valid")
    throw new Error(`the plan made a broken log: ${JSON.stringify(session.diagnostics)}`);
  texts.push((await session.info()).label, ...labels.values());
  await session.close();
  return texts.some((text) => foldNaively(text).includes(folded));
}

describe("search equals a naive scan", () => {
  const plan = fc.array(hardText(10), { minLength: 1, maxLength: 8 }).chain((texts) =>
    fc.record({
      texts: fc.constant(texts),
      needle: needleOf(texts),
      shape: fc.array(fc.nat({ max: 1000 }), { minLength: texts.length, maxLength: texts.length }),
      respell: fc.boolean(),
    }),
  );

  test("over random sessions, cold and warm", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(plan, { minLength: 1, maxLength: 4 }),
        fc.infiniteStream(fc.nat()),
        async (plans, choices) => {
          const root = newRoot();
          const logs = plans.map((one, index) => ({ name: `s${index}`, log: build(`s${index}`, one), one }));
          for (const { name, log, one } of logs) {
            const [header = "", ...rest] = log.lines;
            const lines = one.respell ? rest.map((line) => otherSpelling(line, () => choices.next().value)) : rest;
            writeSession(root, name, `${[header, ...lines].join("\n")}\n`);
          }
          const library = new Library({ writeRoot: root });
          for (const { needle } of plans) {
            const expected: string[] = [];
            for (const { name, log } of logs) {
              if (await naiveScan(path.join(root, name), log.lines, needle)) expected.push(name);
            }
            const cold = await new Library({ writeRoot: root }).search(needle);
            expect(cold.hits.map((hit) => hit.id).sort()).toEqual(expected.sort());
            const warm = await library.search(needle);
            expect(warm).toEqual(cold);
          }
        },
      ),
      { numRuns: Number(process.env["PERSYK_ROUNDS"] ?? 120) },
    );
  });
});

describe("pages, streams, cancellation", () => {
  const root = newRoot();
  const startMs = Date.parse("2026-02-01T00:00:00Z");
  beforeAll(() => {
    for (let index = 0; index < 60; index += 1) {
      const log = new LogText(`session-${index}`, startMs + (index % 50) * 1000);
      log.user(index % 3 === 0 ? "with needle" : "without");
      writeSession(root, `folder-${index}`, log);
    }
  });

  test("come newest first, and pages together are the whole", async () => {
    const library = new Library({ writeRoot: root });
    const all = (await library.search("needle", { limit: 1000 })).hits;
    expect(all).toHaveLength(20);
    const times = all.map((hit) => Date.parse(hit.createdAt));
    expect(times).toEqual([...times].sort((a, b) => b - a));
    for (const limit of [1, 3, 7, 20]) {
      const paged: SearchHit[] = [];
      let cursor: string | null = null;
      do {
        const page: { hits: SearchHit[]; cursor: string | null } = await library.search("needle", { limit, cursor });
        expect(page.hits.length).toBeLessThanOrEqual(limit);
        paged.push(...page.hits);
        cursor = page.cursor;
      } while (cursor !== null);
      expect(paged).toEqual(all);
    }
  });

  test("a session added or removed between pages moves no other", async () => {
    const library = new Library({ writeRoot: root });
    const first = await library.search("needle", { limit: 5 });
    const newer = new LogText("newer", startMs + 100_000);
    newer.user("needle");
    writeSession(root, "newer", newer);
    const gone = first.hits[4]?.location ?? "";
    renameSync(gone, path.join(folder, "moved-away"));
    const second = await library.search("needle", { limit: 100, cursor: first.cursor });
    expect(second.hits).toHaveLength(15);
    expect(second.hits.map((hit) => hit.id)).not.toContain("newer");
    renameSync(path.join(folder, "moved-away"), gone);
    renameSync(path.join(root, "newer"), path.join(folder, "newer-away"));
  });

  test("stream and stop early", async () => {
    const seen: string[] = [];
    for await (const hit of new Library({ writeRoot: root }).searchStream("needle")) {
      seen.push(hit.id);
      if (seen.length === 3) break;
    }
    expect(seen).toHaveLength(3);
  });

  test("cancellation gives the exact reason back", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const stream = new Library({ writeRoot: root }).searchStream("needle", { signal: controller.signal });
    await stream.next();
    controller.abort(reason);
    await expect(
      (async () => {
        for await (const _hit of stream);
      })(),
    ).rejects.toBe(reason);
    await expect(new Library({ writeRoot: root }).list({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test("a filter leaves sessions out before they are read", async () => {
    const asked: (string | null)[] = [];
    const { hits } = await new Library({ writeRoot: root }).search("needle", {
      filter: ({ id }) => {
        asked.push(id);
        return id === "session-3";
      },
    });
    expect(hits.map((hit) => hit.id)).toEqual(["session-3"]);
    expect(asked).toHaveLength(60);
  });

  test("a cursor that no page gave, and nothing to search for, are wrong usage", async () => {
    const library = new Library({ writeRoot: root });
    await expect(library.search("needle", { cursor: "nonsense" })).rejects.toMatchObject({ code: "usage" });
    await expect(library.search("")).rejects.toMatchObject({ code: "usage" });
    await expect(library.search("x".repeat(5000))).rejects.toMatchObject({ code: "usage" });
  });
});

describe("a hit pins what was matched", () => {
  test("appends by others change neither its leaf nor what is opened", async () => {
    const root = newRoot();
    const log = new LogText("pinned");
    const leaf = log.user("needle");
    const location = writeSession(root, "one", log);
    const library = new Library({ writeRoot: root });
    const [hit] = (await library.search("needle")).hits;
    if (hit === undefined) throw new Error("expected a hit");
    expect(hit).toMatchObject({ id: "pinned", location, leaf, entryId: leaf });
    log.remove(leaf);
    appendFileSync(path.join(location, "session.jsonl"), `${log.lines.at(-1) ?? ""}\n`);
    const session = await library.openHit(hit);
    expect((await session.history(hit.leaf)).map((item) => item.id)).toEqual([leaf]);
    expect(await session.history()).toEqual([]);
    await session.close();
    expect((await library.search("needle")).hits).toEqual([]);
  });

  test("another file in its place is refused", async () => {
    const root = newRoot();
    const log = new LogText("pinned");
    log.user("needle");
    const location = writeSession(root, "one", log);
    const library = new Library({ writeRoot: root });
    const [hit] = (await library.search("needle")).hits;
    if (hit === undefined) throw new Error("expected a hit");
    writeFileSync(path.join(location, "other.jsonl"), log.toString());
    renameSync(path.join(location, "other.jsonl"), path.join(location, "session.jsonl"));
    await expect(library.openHit(hit)).rejects.toMatchObject({ code: "handle-revoked" });
    renameSync(location, path.join(root, "two"));
    await expect(library.openHit(hit)).rejects.toMatchObject({ code: "location-gone" });
  });
});

describe("roots", () => {
  test("a missing default root is empty; a missing named root and a file in its place are diagnostics", async () => {
    const missing = path.join(folder, "missing");
    const asDefault = new Library({ writeRoot: { path: missing, explicit: false } });
    expect(await asDefault.list()).toEqual({ sessions: [], diagnostics: [], cursor: null });
    const root = newRoot();
    const log = new LogText("here");
    log.user("needle");
    writeSession(root, "one", log);
    const file = path.join(folder, "a-file");
    writeFileSync(file, "");
    const library = new Library({ writeRoot: root, additional: [missing, file] });
    const page = await library.list();
    expect(page.sessions.map((session) => session.id)).toEqual(["here"]);
    expect(page.diagnostics.map(({ code, location }) => [code, location])).toEqual([
      ["root-missing", missing],
      ["root-unreadable", file],
    ]);
    expect((await library.search("needle")).hits).toHaveLength(1);
  });

  test("overlapping roots give each session once; two places with one id are both listed and reported", async () => {
    const root = newRoot();
    const log = new LogText("twin");
    log.user("needle");
    writeSession(root, "one", log);
    const link = path.join(folder, "link-to-root");
    symlinkSync(root, link);
    const overlapping = await new Library({ writeRoot: root, additional: [root, link] }).list();
    expect(overlapping.sessions).toHaveLength(1);
    expect(overlapping.diagnostics).toEqual([]);
    writeSession(root, "two", log);
    const twins = await new Library({ writeRoot: root }).list();
    expect(twins.sessions).toHaveLength(2);
    expect(twins.diagnostics.map(({ code, sessionId }) => [code, sessionId])).toEqual([
      ["duplicate-id", "twin"],
      ["duplicate-id", "twin"],
    ]);
    await expect(new Library({ writeRoot: root }).open("twin")).rejects.toMatchObject({ code: "ambiguous" });
  });

  test("links, pipes' places and other folders are no sessions", async () => {
    const root = newRoot();
    const elsewhere = writeSession(newRoot(), "outside", new LogText("outside"));
    symlinkSync(elsewhere, path.join(root, "linked"));
    mkdirSync(path.join(root, "notes"));
    mkdirSync(path.join(root, ".hidden"));
    writeFileSync(path.join(root, "file.txt"), "");
    mkdirSync(path.join(root, "odd", "session.jsonl"), { recursive: true });
    mkdirSync(path.join(root, "linked-log"));
    symlinkSync(path.join(elsewhere, "session.jsonl"), path.join(root, "linked-log", "session.jsonl"));
    const page = await new Library({ writeRoot: root }).list();
    expect(page.sessions).toEqual([]);
    expect(page.diagnostics.map(({ code, location }) => [code, path.basename(location ?? "")]).sort()).toEqual([
      ["link-skipped", "linked"],
      ["log-not-regular", "linked-log"],
      ["log-not-regular", "odd"],
    ]);
  });

  test("circles of links and pipes end a list and a search nowhere, and hide no session", async () => {
    const root = newRoot();
    const log = new LogText("sound");
    log.user("needle");
    const sound = writeSession(root, "sound", log);
    // Inside a session nothing but its log is looked at.
    symlinkSync(root, path.join(sound, "assets", "up"));
    symlinkSync(root, path.join(root, "a"));
    symlinkSync(".", path.join(root, "parent"));
    symlinkSync("self", path.join(root, "self"));
    symlinkSync("pong", path.join(root, "ping"));
    symlinkSync("ping", path.join(root, "pong"));
    mkdirSync(path.join(root, "looped-log"));
    symlinkSync("session.jsonl", path.join(root, "looped-log", "session.jsonl"));
    mkdirSync(path.join(root, "pipe"));
    execFileSync("mkfifo", [path.join(root, "pipe", "session.jsonl")]);
    const refused = [
      ["log-not-regular", "looped-log"],
      ["log-not-regular", "pipe"],
    ];
    const named = (diagnostics: readonly LibraryDiagnostic[]): string[][] =>
      diagnostics.map(({ code, location }) => [code, path.basename(location ?? "")]).sort();

    const library = new Library({ writeRoot: root });
    const page = await library.list();
    expect(page.sessions.map(({ id }) => id)).toEqual(["sound"]);
    expect(named(page.diagnostics)).toEqual(refused);
    const found = await library.search("needle", { limit: 10 });
    expect(found.hits.map(({ location }) => location)).toEqual([sound]);
    expect(named(found.diagnostics)).toEqual(refused);

    // A root that is a session itself: the links to it lead to a session then, and are named and not followed.
    writeFileSync(path.join(root, "session.jsonl"), new LogText("outer").toString());
    const around = await new Library({ writeRoot: root }).list();
    expect(around.sessions.map(({ id }) => id)).toEqual(["sound"]);
    expect(named(around.diagnostics)).toEqual([["link-skipped", "a"], ["link-skipped", "parent"], ...refused]);
  });

  const asUser = process.getuid?.() === 0 ? test.skip : test;
  asUser("a folder without permission is a diagnostic", async () => {
    const root = newRoot();
    const location = writeSession(root, "closed", new LogText("closed"));
    chmodSync(location, 0);
    const page = await new Library({ writeRoot: root }).list();
    chmodSync(location, 0o700);
    expect(page.diagnostics.map(({ code }) => code)).toEqual(["session-unreadable"]);
  });
});
