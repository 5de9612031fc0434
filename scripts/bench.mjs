import path from "node:path";
import { node22, root } from "./lib/node22.mjs";
import { run, toolEnvironment } from "./lib/run.mjs";
import { setUp } from "./lib/setup.mjs";

// Usage: npm run bench [-- name …]. Prints one table: what, ours, its peer or floor, the ratio.
await setUp();
const { build } = await import("esbuild");
const outfile = path.join(root, "store/dist/bench.cjs");
await build({
  entryPoints: [path.join(root, "store/bench/index.ts")],
  outfile,
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node22",
  packages: "external",
  logLevel: "error",
});
process.exitCode = await run(node22(), ["--expose-gc", outfile, ...process.argv.slice(2)], {
  env: toolEnvironment({ PERSYK_PROJECT: root }),
});
