import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { HostLog } from "../../src/host/log";
import { hostNodePath } from "../../src/host/node-path";

const folder = mkdtempSync(path.join(os.tmpdir(), "persyk-pieces-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function program(file: string): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, "");
  chmodSync(file, 0o755);
  return file;
}

describe("the host's log", () => {
  test("is private, never larger than 64 KiB, and a new host goes on with its newest half", () => {
    const file = path.join(folder, "host.log");
    const log = new HostLog(file);
    for (let line = 0; line < 3_000; line += 1) log.note(`event-${line}`);
    const first = readFileSync(file, "utf8");
    expect(first.length).toBeLessThanOrEqual(64 * 1024);
    expect(first).toContain("event-0\n");
    new HostLog(file).note("next");
    const second = readFileSync(file, "utf8");
    expect(second.length).toBeLessThanOrEqual(32 * 1024 + 100);
    expect(second.startsWith("20")).toBe(true);
    expect(second.endsWith(" next\n")).toBe(true);
    expect(second).not.toContain("event-0\n");
  });

  test("takes codes alone: no text and no line of another's making", () => {
    const file = path.join(folder, "codes.log");
    const log = new HostLog(file);
    log.note("failed disk-full");
    log.note("Bitte ruf die Bank an \u2026");
    log.note("a\nb");
    log.note("x".repeat(121));
    expect(
      readFileSync(file, "utf8")
        .split("\n")
        .map((line) => line.split(" ").slice(2).join(" ")),
    ).toEqual(["failed disk-full", "other", "other", "other", ""]);
  });

  test("a log that cannot be written ends nothing", () => {
    const log = new HostLog(path.join(folder, "absent", "host.log"));
    expect(() => log.note("start")).not.toThrow();
  });
});

describe("the Node of the host", () => {
  const home = path.join(folder, "home");
  const runtime = (version: string): string =>
    path.join(home, "Library/Application Support/com.raycast.macos/NodeJS/runtime", version, "bin/node");

  test("is the launcher's own where that is a Node", () => {
    const own = program(path.join(folder, "own", "node"));
    expect(hostNodePath(own, home)).toBe(own);
  });

  test("is the newest runtime that the launcher installed where it is not, or cannot be run", () => {
    const launcher = program(path.join(folder, "Raycast"));
    program(runtime("9.1.0"));
    const newest = program(runtime("22.14.0"));
    mkdirSync(path.dirname(runtime("23.0.0")), { recursive: true });
    expect(hostNodePath(launcher, home)).toBe(newest);
    expect(hostNodePath(path.join(folder, "gone", "node"), home)).toBe(newest);
  });

  test("is never another: without one it is said", () => {
    const launcher = program(path.join(folder, "Raycast"));
    expect(() => hostNodePath(launcher, path.join(folder, "nobody"))).toThrow(
      expect.objectContaining({ code: "node-missing" }),
    );
  });
});
