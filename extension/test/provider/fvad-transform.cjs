const { readFileSync } = require("node:fs");
const { transformSync } = require("esbuild");

module.exports = {
  process(source, filename) {
    if (filename.endsWith(".wasm")) {
      const bytes = readFileSync(filename).toString("base64");
      return { code: `module.exports = { __esModule: true, default: Buffer.from("${bytes}", "base64") };` };
    }
    const { code } = transformSync(source, {
      format: "cjs",
      platform: "node",
      supported: { "dynamic-import": false },
      define: { "import.meta.url": "__importMetaUrl" },
      banner: 'const __importMetaUrl = require("node:url").pathToFileURL(__filename).href;',
    });
    return { code };
  },
};
