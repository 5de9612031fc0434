/** @type {import("jest").Config} */
module.exports = {
  displayName: "store",
  rootDir: __dirname,
  testEnvironment: "node",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  transform: {
    "^.+\\.tsx?$": ["ts-jest", { tsconfig: { ...require("../scripts/jest-tsconfig.cjs") }, diagnostics: false }],
  },
  testTimeout: 120_000,
};
