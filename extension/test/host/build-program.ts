import path from "node:path";
import { buildSync } from "esbuild";

/** Bundles a program of the extension as the builder of the extension does, for the Node that Raycast runs. */
export function buildProgram(project: string, entry: string, outfile: string): void {
  buildSync({
    entryPoints: [path.join(project, "extension", entry)],
    outfile,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node22",
    loader: { ".wasm": "binary" },
    logLevel: "error",
    define: { "import.meta.url": "__importMetaUrl" },
    banner: { js: 'const __importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
  });
}
