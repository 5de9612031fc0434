/** @type {import("jest").Config} */
module.exports = {
  projects: ["<rootDir>/store", "<rootDir>/extension"],
  // Jest reads this from the root only. It is for a loaded machine: nothing waits when it need not.
  testTimeout: 240_000,
};
