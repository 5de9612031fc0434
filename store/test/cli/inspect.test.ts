import { readFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder, writeSession } from "../library/sessions";
import { runCli } from "./run-cli";

const root = temporaryFolder();
const env = { PERSYK_ROOT: root };

interface Case {
  id: string;
  title: string;
  base64: string;
  expected: { authoritative: boolean; recoverable: string; committedEntries: number };
}

const fixtures = path.resolve(__dirname, "../../../fixtures/format/records.json");
const cases = JSON.parse(readFileSync(fixtures, "utf8")) as Case[];

test(`persyk inspect answers all ${cases.length} stored cases as expected, and list never fails beside them`, async () => {
  for (const { id, title, base64, expected } of cases) {
    const location = writeSession(root, id, Buffer.from(base64, "base64"));
    const { exitCode, json } = await runCli(["inspect", location, "--json"], { env });
    const { authoritative, recoverable, committedEntries } = json;
    expect({ id, title, exitCode, authoritative, recoverable, committedEntries }).toEqual({
      id,
      title,
      exitCode: expected.authoritative ? 0 : 1,
      authoritative: expected.authoritative,
      recoverable: expected.recoverable,
      committedEntries: expected.committedEntries,
    });
  }
  const { exitCode, json } = await runCli(["list", "--limit", "1000", "--json"], { env });
  expect(exitCode).toBe(0);
  const sessions = json["sessions"] as { location: string; verdict: string }[];
  expect(sessions).toHaveLength(new Set(cases.map(({ id }) => id)).size);
  for (const { location, verdict } of sessions) {
    const found = cases.find(({ id }) => id === path.basename(location));
    expect([location, verdict === "valid"]).toEqual([location, found?.expected.authoritative]);
  }
});
