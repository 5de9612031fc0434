import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ReplayDocument } from "../../src/realtime/replay";
import { runCli } from "../cli/run-cli";
import { judge } from "./judge";
import { loadTraces, tracePath } from "./trace-files";

describe("persyk realtime replay", () => {
  test.each(loadTraces())(
    "$name: one document on one line, with a checkpoint for each line of the trace",
    async (trace) => {
      const { exitCode, stdout } = await runCli(["realtime", "replay", tracePath(trace.name), "--json"]);
      expect(exitCode).toBe(0);
      expect(stdout.trimEnd()).not.toContain("\n");
      const document: ReplayDocument = JSON.parse(stdout);
      judge(document, trace.expected);
      expect(document.checkpoints.map((checkpoint) => checkpoint.after_line)).toEqual(
        trace.lines.map((_, index) => index + 1),
      );
    },
  );

  test("for people: the messages, what is missing, and the outcome", async () => {
    const { stdout } = await runCli(["realtime", "replay", tracePath("27-failed-without-items")]);
    for (const part of ["Anyone there?", "Here now.", "resp_1", "response_failed", "incomplete", "3 messages, 1 gap"]) {
      expect(stdout).toContain(part);
    }
  });

  test("a file that is no trace is wrong usage, with its line; a missing one could not be read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "persyk-trace-"));
    try {
      const file = join(folder, "broken.jsonl");
      writeFileSync(file, '{"at":0,"conn":"c1","transport":{"type":"open"}}\n{"at":1,"what":1}\n');
      const broken = await runCli(["realtime", "replay", file, "--json"]);
      expect(broken.exitCode).toBe(2);
      expect(JSON.parse(broken.stdout)).toMatchObject({ error: { code: "usage", line: 2 } });
      const missing = await runCli(["realtime", "replay", join(folder, "none.jsonl"), "--json"]);
      expect(missing.exitCode).not.toBe(0);
      expect(JSON.parse(missing.stdout)).toMatchObject({ error: { code: "location-gone" } });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
