import path from "node:path";
import { root } from "./lib/node22.mjs";
import { runTool } from "./lib/run.mjs";
import { setUp } from "./lib/setup.mjs";

// Usage: npm test [-- <jest arguments>]. Sets up what is missing, then runs the tests of both packages on Node 22.
await setUp();
const projects = ["store", "extension"].map((name) => path.join(root, name));
process.exitCode = await runTool(
  "jest/bin/jest.js",
  ["--projects", ...projects, "--", ...process.argv.slice(2)].filter(
    (arg, index, all) => !(arg === "--" && index === all.length - 1),
  ),
);
