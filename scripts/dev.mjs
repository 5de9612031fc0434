import { existsSync } from "node:fs";
import path from "node:path";
import { root } from "./lib/node22.mjs";
import { run, toolEnvironment } from "./lib/run.mjs";
import { setUp } from "./lib/setup.mjs";

const raycast = ["/Applications/Raycast.app", path.join(process.env.HOME ?? "", "Applications/Raycast.app")];
if (process.platform !== "darwin" || !raycast.some((app) => existsSync(app))) {
  console.log(
    "npm run dev needs a Mac with Raycast installed; here, `npm start` and `npm test` show everything that runs without it.",
  );
  process.exit(0);
}
await setUp();
const helper = await run("bash", [path.join(root, "scripts/build-helper.sh")]);
process.exitCode =
  helper === 0
    ? await run(path.join(root, "node_modules/.bin/ray"), ["develop"], {
        cwd: path.join(root, "extension"),
        env: toolEnvironment(),
      })
    : helper;
