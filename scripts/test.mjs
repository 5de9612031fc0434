import { runTool } from "./lib/run.mjs";
import { setUp } from "./lib/setup.mjs";

// Usage: npm test [-- <jest arguments>]. Sets up what is missing, then runs the tests of both packages on Node 22.
await setUp();
process.exitCode = await runTool("jest/bin/jest.js", process.argv.slice(2));
