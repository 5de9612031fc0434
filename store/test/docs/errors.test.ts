import { errorCodes } from "../../src/error-codes";
import { exitCodeOf } from "../../src/cli/exit-codes";
import { StoreError, type StoreErrorCode } from "../../src/errors";
import { expectGenerated } from "./generated";

test("docs/errors.md lists every code", () => {
  const rows = Object.entries(errorCodes).map(([code, { summary, remedy }]) => {
    const exitCode = exitCodeOf(new StoreError(code as StoreErrorCode));
    return `| \`${code}\` | ${summary} | ${remedy} | ${exitCode} |`;
  });
  expectGenerated(
    "errors.md",
    `# Errors

Every failure of the store is a \`StoreError\` with a stable \`code\`, a place (session id, location, line, byte offset,
as far as it is known) and a remedy; never text of messages, never secrets. The command line prints one line on standard
error and, with \`--json\`, \`{"error":{"code","message","remedy",…}}\` on standard output. Codes of findings in a log,
which are no failures, are in the verdict's diagnostics (\`persyk inspect\`).

This page is made from \`store/src/error-codes.ts\`.

| code | what it means | what to do | exit code |
| --- | --- | --- | --- |
${rows.join("\n")}
`,
  );
});
