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
    await build({
      entryPoints: [path.join(root, bundle.entry)],
      outfile: path.join(root, bundle.outfile),
      bundle: true,
      platform: "node",
      format: "cjs",
      target: "node22",
      external: bundle.external ?? [],
      loader: { ".wasm": "binary" },
      sourcemap: "linked",
      logLevel: "error",
    });
    if (!quiet) console.log(`built ${bundle.outfile}  (${bundle.name})`);
  }
}
