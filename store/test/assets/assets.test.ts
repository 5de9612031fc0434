import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { type AvailableAsset } from "../../src/format/schema";
import { createSession } from "../../src/session/create";
import { openSession, type Session } from "../../src/session/session";
import { FaultyFs } from "../support/faulty-fs";
import { Sandbox } from "../support/sandbox";

let sandbox: Sandbox;
let session: Session;
beforeEach(async () => {
  sandbox = new Sandbox();
  session = await createSession(sandbox.root, sandbox.context);
});
afterEach(async () => {
  await session.close();
  sandbox.remove();
});

const available = (path: string, more: Partial<AvailableAsset> = {}): AvailableAsset => ({
  status: "available",
  path,
  mimeType: "application/octet-stream",
  ...more,
});

describe("creating", () => {
  test("a new asset is empty, private, readable and writable, and its descriptor can be handed on", async () => {
    const { handle, path, reference } = await session.createAsset("r1.wav", "audio/wav");
    expect(reference).toEqual({ status: "available", path: "assets/r1.wav", mimeType: "audio/wav" });
    expect(path).toBe(join(session.location, "assets", "r1.wav"));
    expect(fs.statSync(path)).toMatchObject({ size: 0, nlink: 1 });
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
    expect(fs.statSync(join(session.location, "assets")).mode & 0o777).toBe(0o700);
    execFileSync("sh", ["-c", "printf samples >&3"], { stdio: ["ignore", "ignore", "inherit", handle.fd] });
    expect(fs.readFileSync(path, "utf8")).toBe("samples");
    await handle.close();
  });

  test("never truncates: a file, a dangling link and a folder of that name are already there", async () => {
    await (await session.createAsset("first", "a/b")).handle.close();
    const assets = join(session.location, "assets");
    fs.writeFileSync(join(assets, "first"), "content");
    fs.symlinkSync(join(sandbox.folder, "outside"), join(assets, "link"));
    fs.mkdirSync(join(assets, "folder"));
    for (const name of ["first", "link", "folder"]) {
      await expect(session.createAsset(name, "a/b")).rejects.toMatchObject({ code: "already-exists" });
    }
    expect(fs.readFileSync(join(assets, "first"), "utf8")).toBe("content");
    expect(fs.existsSync(join(sandbox.folder, "outside"))).toBe(false);
  });

  test.each([
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "/etc/x",
    "a\\b",
    "a\0b",
    ".hidden",
    "-dash",
    "ä",
    "a b",
    "x".repeat(256),
    "C:x",
  ])("the name %j is no asset name", async (name) => {
    await expect(Promise.resolve().then(() => session.createAsset(name, "a/b"))).rejects.toMatchObject({
      code: "unsafe-path",
    });
    expect(fs.readdirSync(session.location)).toEqual(["session.jsonl"]);
  });

  test("an assets folder that leads elsewhere, or is a file, is refused and nothing appears outside", async () => {
    const outside = join(sandbox.folder, "outside");
    fs.mkdirSync(outside);
    fs.symlinkSync(outside, join(session.location, "assets"));
    await expect(session.createAsset("x.bin", "a/b")).rejects.toMatchObject({ code: "unsafe-path" });
    await expect(session.writeProtocolAsset(Buffer.from("x"), { mimeType: "a/b" })).rejects.toMatchObject({
      code: "unsafe-path",
    });
    expect(fs.readdirSync(outside)).toEqual([]);
    fs.unlinkSync(join(session.location, "assets"));
    fs.writeFileSync(join(session.location, "assets"), "");
    await expect(session.createAsset("x.bin", "a/b")).rejects.toMatchObject({ code: "unsafe-path" });
  });

  test("an assets folder swapped for a link after the first asset is refused, and nothing appears outside", async () => {
    await (await session.createAsset("first.bin", "a/b")).handle.close();
    const outside = join(sandbox.folder, "outside");
    const assets = join(session.location, "assets");
    fs.mkdirSync(outside);
    fs.renameSync(assets, `${assets}-away`);
    fs.symlinkSync(outside, assets);
    await expect(session.createAsset("second.bin", "a/b")).rejects.toMatchObject({ code: "unsafe-path" });
    expect(fs.readdirSync(outside)).toEqual([]);
  });

  test("an assets folder swapped for a link between the look and the opening is noticed", async () => {
    const faulty = new FaultyFs();
    const watched = await openSession(session.location, { ...sandbox.context, fs: faulty });
    await (await watched.createAsset("first", "a/b")).handle.close();
    const outside = join(sandbox.folder, "outside");
    const assets = join(session.location, "assets");
    fs.mkdirSync(outside);
    fs.writeFileSync(join(outside, "first"), "secret");
    const open = faulty.open.bind(faulty);
    faulty.open = async (path, mode) => {
      fs.renameSync(assets, `${assets}-away`);
      fs.symlinkSync(outside, assets);
      return open(path, mode);
    };
    await expect(watched.openAsset(available("assets/first"))).rejects.toMatchObject({ code: "unsafe-path" });
    await watched.close();
  });
});

describe("protocol bytes", () => {
  test("get a name of their own, a digest, and are durable before the reference is there", async () => {
    const faulty = new FaultyFs();
    const watched = await openSession(session.location, { ...sandbox.context, fs: faulty });
    faulty.inject(undefined);
    const bytes = Buffer.from("protocol bytes");
    const reference = await watched.writeProtocolAsset(bytes, { mimeType: "audio/pcm", encoding: "pcm_s16le" });
    expect(reference).toEqual({
      status: "available",
      path: expect.stringMatching(/^assets\/protocol-[0-9a-f-]{36}\.bin$/),
      mimeType: "audio/pcm",
      encoding: "pcm_s16le",
      sha256: createHash("sha256").update(bytes).digest("hex"),
    });
    const order = faulty.log
      .map((line) => line.split(" ")[0])
      .filter((name) => /^(mkdir|open|write|sync)/.test(name ?? ""));
    expect(order).toEqual(["mkdir", "syncDirectory", "open", "syncDirectory", "write", "sync"]);
    await watched.close();
  });
});

describe("opening", () => {
  const stored = async (text = "0123456789"): Promise<AvailableAsset> =>
    session.writeProtocolAsset(Buffer.from(text), { mimeType: "text/plain" });

  test("reads the referenced bytes, whole or a range, by offsets from their start", async () => {
    const whole = await stored();
    const reader = await session.openAsset(whole);
    expect(reader.size).toBe(10);
    expect((await reader.read(2, 5)).toString()).toBe("234");
    expect(await reader.verify()).toBe("verified");
    for (const [start, end] of [
      [-1, 2],
      [5, 4],
      [0, 11],
      [0.5, 1],
    ] as const) {
      await expect(reader.read(start, end)).rejects.toMatchObject({ code: "usage" });
    }
    await reader.close();
    const range = available(whole.path, { byteRange: { start: 4, end: 8 } });
    const part = await session.openAsset(range);
    expect([part.size, (await part.read(0, 4)).toString(), await part.verify()]).toEqual([4, "4567", "unrecorded"]);
    await part.close();
  });

  test("a digest that does not fit, a range beyond the file, a missing file and a missing asset are errors", async () => {
    const whole = await stored();
    const changed = await session.openAsset({ ...whole, sha256: "0".repeat(64) });
    await expect(changed.verify()).rejects.toMatchObject({ code: "digest-mismatch" });
    await changed.close();
    await expect(session.openAsset(available(whole.path, { byteRange: { start: 0, end: 11 } }))).rejects.toMatchObject({
      code: "asset-invalid",
    });
    await expect(session.openAsset(available("assets/none"))).rejects.toMatchObject({ code: "asset-missing" });
    await expect(session.openAsset({ status: "missing", reason: "lost" })).rejects.toMatchObject({
      code: "asset-missing",
    });
  });

  test("nothing outside is reachable: traversal, links, special files, folders", async () => {
    await stored();
    const assets = join(session.location, "assets");
    fs.symlinkSync("/etc/passwd", join(assets, "link"));
    fs.mkdirSync(join(assets, "folder"));
    execFileSync("mkfifo", [join(assets, "pipe")]);
    for (const path of [
      "assets/../session.jsonl",
      "assets/..",
      "../x",
      "/etc/passwd",
      "assets/a/b",
      "session.jsonl",
      "assets/",
      "assets/link",
      "assets/folder",
      "assets/pipe",
    ]) {
      await expect(session.openAsset(available(path))).rejects.toMatchObject({ code: "unsafe-path" });
    }
  });

  test("a file whose content is elsewhere, or that gives less than it promised, is unavailable", async () => {
    const large = await stored("x".repeat(10_000));
    const faulty = new FaultyFs();
    const watched = await openSession(session.location, { ...sandbox.context, fs: faulty });
    faulty.statOf = (stat) => Object.assign(Object.create(Object.getPrototypeOf(stat)), stat, { blocks: 0n });
    await expect(watched.openAsset(large)).rejects.toMatchObject({ code: "unavailable" });
    faulty.statOf = (stat) => stat;
    const reader = await watched.openAsset(large);
    fs.truncateSync(join(session.location, large.path), 5);
    await expect(reader.read(0, 10)).rejects.toMatchObject({ code: "unavailable" });
    await reader.close();
    await watched.close();
  });
});
