import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { root } from "./lib/node22.mjs";
import { buildAll } from "./lib/bundles.mjs";

// Raycast's builder looks for its tools in the extension's own node_modules; npm workspaces put them in the root's.
const bins = path.join(root, "extension", "node_modules", ".bin");
mkdirSync(bins, { recursive: true });
for (const tool of ["tsc", "eslint", "prettier", "ray"]) {
  const target = path.join(root, "node_modules", ".bin", tool);
  const link = path.join(bins, tool);
  if (!existsSync(target)) continue;
  rmSync(link, { force: true });
  symlinkSync(path.relative(bins, target), link);
}

await buildAll({ quiet: true });
