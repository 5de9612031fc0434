// Jest runs CommonJS and transpiles file by file; types are checked by `npm run lint` (tsc --noEmit).
module.exports = {
  target: "ES2022",
  module: "CommonJS",
  moduleResolution: "Node10",
  isolatedModules: true,
  esModuleInterop: true,
  resolveJsonModule: true,
  strict: true,
  ignoreDeprecations: "5.0",
};
