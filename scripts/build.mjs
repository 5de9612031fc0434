import { buildAll } from "./lib/bundles.mjs";

await buildAll();
