/** @type {import("jest").Config} */
module.exports = {
  displayName: "extension",
  rootDir: __dirname,
  testEnvironment: "node",
  testMatch: ["<rootDir>/test/**/*.test.{ts,tsx}"],
  moduleNameMapper: { "^@raycast/api$": "<rootDir>/test/raycast-api/index.ts" },
  transform: {
    // An ESM package and the WebAssembly beside it; the bundles get them through esbuild in the same way.
    "[\\/]fvad-wasm[\\/]fvad\\.(js|wasm)$": "<rootDir>/test/provider/fvad-transform.cjs",
    "^.+\\.tsx?$": [
      "ts-jest",
      { tsconfig: { ...require("../scripts/jest-tsconfig.cjs"), jsx: "react-jsx" }, diagnostics: false },
    ],
  },
  transformIgnorePatterns: ["/node_modules/(?!@echogarden/fvad-wasm/)", "\\.pnp\\.[^\\/]+$"],
  testTimeout: 120_000,
};
