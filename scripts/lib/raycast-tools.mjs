import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { root } from "./node22.mjs";

/** Raycast's builder wants its tools in the extension's own node_modules; npm workspaces put them in the root's. */
export function linkRaycastTools(extensionFolder) {
  const bins = path.join(extensionFolder, "node_modules", ".bin");
  mkdirSync(bins, { recursive: true });
  for (const tool of ["tsc", "eslint", "prettier", "ray"]) {
    const target = path.join(root, "node_modules", ".bin", tool);
    const link = path.join(bins, tool);
    // A copy that was installed on its own has its own tools.
    if (!existsSync(target) || existsSync(link)) continue;
    rmSync(link, { force: true });
    symlinkSync(target, link);
  }
}
