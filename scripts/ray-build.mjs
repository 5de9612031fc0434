import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { node22, root } from "./lib/node22.mjs";
import { linkRaycastTools } from "./lib/raycast-tools.mjs";
import { run, toolEnvironment } from "./lib/run.mjs";

/**
 * `ray build -e dist` for a folder with a Raycast extension, on any system.
 *
 *   node scripts/ray-build.mjs [--folder extension] [--output .cache/raycast]
 *
 * On a Mac it is the build that the store makes, with the Swift helper. Elsewhere stand-ins take the place of Swift and
 * Xcode (scripts/swift-stand-ins), and what comes out has every bundle but no helper.
 */
const { values } = parseArgs({
  options: {
    folder: { type: "string", default: path.join(root, "extension") },
    output: { type: "string", default: path.join(root, ".cache/raycast") },
  },
});
const folder = path.resolve(values.folder);
const output = path.resolve(values.output);
mkdirSync(path.dirname(output), { recursive: true });
linkRaycastTools(folder);
const mac = process.platform === "darwin";
const environment = toolEnvironment();
const searched = mac
  ? environment.PATH
  : `${path.join(root, "scripts/swift-stand-ins")}${path.delimiter}${environment.PATH}`;
const ray = path.join(root, "node_modules/@raycast/api/bin/run.js");
process.exitCode = await run(node22(), [ray, "build", "-e", "dist", "-I", "-o", output], {
  cwd: folder,
  env: { ...environment, PATH: searched },
});
if (!mac) {
  // Nothing that stands in for the helper may stay where a real build would look for it.
  for (const made of ["assets/compiled_raycast_swift", "swift/.raycast-swift-build"]) {
    rmSync(path.join(folder, made), { recursive: true, force: true });
  }
}
