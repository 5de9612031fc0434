import path from "node:path";
import { root } from "./lib/node22.mjs";
import { buildAll } from "./lib/bundles.mjs";
import { linkRaycastTools } from "./lib/raycast-tools.mjs";

linkRaycastTools(path.join(root, "extension"));
await buildAll({ quiet: true });
