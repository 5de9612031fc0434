import path from "node:path";
import { root } from "./lib/node22.mjs";
import { runTool } from "./lib/run.mjs";
import { setUp } from "./lib/setup.mjs";

await setUp({ quiet: true });
const extension = path.join(root, "extension");
const steps = [
  ["types of store", "typescript/bin/tsc", ["--noEmit", "-p", "store"]],
  ["types of extension", "typescript/bin/tsc", ["--noEmit", "-p", "extension"]],
  ["eslint", "eslint/bin/eslint.js", ["."]],
  ["eslint with Raycast's rules", "eslint/bin/eslint.js", ["src"], { cwd: extension }],
  ["prettier", "prettier/bin/prettier.cjs", ["--check", "--log-level", "warn", "."]],
  [
    "import direction",
    "dependency-cruiser/bin/dependency-cruise.mjs",
    ["--config", ".dependency-cruiser.cjs", "store/src", "extension/src"],
  ],
];
let failed = 0;
for (const [name, tool, args, options] of steps) {
  const code = await runTool(tool, args, options);
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${name}`);
  if (code !== 0) failed += 1;
}
process.exitCode = failed === 0 ? 0 : 1;
