import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { root } from "./node22.mjs";

/**
 * The programs that run outside Raycast. Each is one CommonJS file made from the TypeScript sources, so that they start
 * fast and need no build step of the user: `npm install` makes them, and so does `npm run build`.
 */
export const bundles = [
  {
    name: "the persyk command line",
    entry: "store/src/cli/bin.ts",
    outfile: "store/dist/persyk.cjs",
    // clipboardy finds its helper programs relative to its own folder, so it stays outside the bundle.
    external: ["clipboardy"],
  },
  { name: "the session host", entry: "extension/src/host/main.ts", outfile: "extension/dist/host.cjs" },
  {
    name: "the capture stand-in",
    entry: "extension/src/capture/stand-in.ts",
    outfile: "extension/dist/capture-stand-in.cjs",
  },
  {
    name: "the quickstart",
    entry: "extension/src/quickstart/main.ts",
    outfile: "extension/dist/quickstart.cjs",
    external: ["clipboardy"],
  },
];

export async function buildAll({ quiet = false } = {}) {
  const { build } = await import("esbuild");
  for (const bundle of bundles) {
    const entry = path.join(root, bundle.entry);
    if (!existsSync(entry)) throw new Error(`${bundle.entry} is missing: the checkout is not complete.`);
    mkdirSync(path.dirname(path.join(root, bundle.outfile)), { recursive: true });
    await build({
      entryPoints: [entry],
      outfile: path.join(root, bundle.outfile),
      bundle: true,
      platform: "node",
      format: "cjs",
      target: "node22",
      external: bundle.external ?? [],
      // The packages below are optional accelerators of `ws`; it does without them.
      alias: {},
      loader: { ".wasm": "binary" },
      sourcemap: "linked",
      logLevel: "error",
      // Bundled CommonJS has no import.meta.url; WebAssembly loaders ask for it.
      define: { "import.meta.url": "__importMetaUrl" },
      banner: { js: 'const __importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
    });
    if (!quiet) console.log(`built ${bundle.outfile}  (${bundle.name})`);
  }
}
