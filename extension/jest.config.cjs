/** @type {import("jest").Config} */
module.exports = {
  displayName: "extension",
  rootDir: __dirname,
  testEnvironment: "node",
  testMatch: ["<rootDir>/test/**/*.test.{ts,tsx}"],
  moduleNameMapper: { "^@raycast/api$": "<rootDir>/test/raycast-api/index.ts" },
  transform: {
    "^.+\\.tsx?$": [
      "ts-jest",
      { tsconfig: { ...require("../scripts/jest-tsconfig.cjs"), jsx: "react-jsx" }, diagnostics: false },
    ],
  },
  testTimeout: 120_000,
};
