import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { LogText, temporaryFolder, writeSession } from "../library/sessions";
import { install, type Installed } from "./installed";

const folder = temporaryFolder();
const env = { PERSYK_ROOT: path.join(folder, "sessions"), HOME: folder };
const text = "What is exported\n";
let installed: Installed;

beforeAll(() => {
  installed = install();
  const log = new LogText("talk");
  log.user("What is exported");
  writeSession(env.PERSYK_ROOT, "talk", log);
});

function persyk(argv: readonly string[], stdout: "pipe" | number = "pipe") {
  return spawnSync(process.execPath, [installed.program, ...argv], {
    cwd: folder,
    env,
    encoding: "utf8",
    stdio: ["ignore", stdout, "pipe"],
  });
}

const exportTo = (out: string, ...more: string[]) =>
  persyk(["export", "talk", "--format", "txt", "--out", out, ...more]);

describe("persyk export --out", () => {
  test("a new file is as readable as the user's other files, and nothing else is left", () => {
    expect(exportTo("new.txt")).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(path.join(folder, "new.txt"), "utf8")).toBe(text);
    expect(statSync(path.join(folder, "new.txt")).mode & 0o777).toBe(0o666 & ~process.umask());
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("a name that is taken is refused, and the message says how to replace it", () => {
    writeFileSync(path.join(folder, "mine.txt"), "mine");
    const { status, stderr } = exportTo("mine.txt");
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: A file of that name is there already\. .*add --force.* \[already-exists\]\n$/);
    expect(readFileSync(path.join(folder, "mine.txt"), "utf8")).toBe("mine");
  });

  test("--force keeps the permissions of what it replaces, and a link leads to it still", () => {
    const file = path.join(folder, "secret.txt");
    writeFileSync(file, "mine");
    chmodSync(file, 0o640);
    symlinkSync("secret.txt", path.join(folder, "link.txt"));
    expect(exportTo("link.txt", "--force")).toMatchObject({ status: 0 });
    expect(lstatSync(path.join(folder, "link.txt")).isSymbolicLink()).toBe(true);
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  test("--force writes into what is no file", () => {
    const line = '"$0" "$1" export talk --format txt --out /dev/stdout --force | cat';
    const { stdout } = spawnSync("sh", ["-c", line, process.execPath, installed.program], {
      env: { ...env, PATH: process.env["PATH"] },
      encoding: "utf8",
    });
    expect(stdout).toContain(text);
  });

  test("a folder that is not there is named, with a code", () => {
    const { status, stderr } = exportTo("nowhere/talk.txt");
    expect(status).toBe(3);
    expect(stderr).toContain(path.join(folder, "nowhere/talk.txt"));
    expect(stderr).toContain("[location-gone]");
  });
});

(existsSync("/dev/full") ? test : test.skip)(
  "output that cannot be written is an error of one line (needs /dev/full)",
  () => {
    const { status, stderr } = persyk(["show", "talk"], openSync("/dev/full", "w"));
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: "error: Could not write the output (ENOSPC). [disk-full]\n",
    });
  },
);
