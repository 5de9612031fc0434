/** @type {import("jest").Config} */
module.exports = { projects: ["<rootDir>/store", "<rootDir>/extension"] };
