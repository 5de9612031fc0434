import path from "node:path";
import { node22, root } from "./lib/node22.mjs";
import { run, toolEnvironment } from "./lib/run.mjs";
import { setUp } from "./lib/setup.mjs";

await setUp();
process.exitCode = await run(node22(), [path.join(root, "extension/dist/quickstart.cjs"), ...process.argv.slice(2)], {
  cwd: process.cwd(),
  env: toolEnvironment({ PERSYK_PROJECT: root, PERSYK_CALLER_CWD: process.env.INIT_CWD ?? process.cwd() }),
});
