/** Which room may import which. The picture is in CONTRIBUTING.md; `npm run lint` checks it. */
const store = (room) => `^store/src/${room}/`;

module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "format-is-pure",
      comment: "format says what a record is: no files, no locks, no clock of its own",
      severity: "error",
      from: { path: store("format") },
      to: {
        pathNot: [
          store("format"),
          "^store/src/(errors|error-codes)\\.ts$",
          "^node_modules/",
          "^(node:)?(crypto|buffer)$",
        ],
      },
    },
    {
      name: "log-below-session",
      severity: "error",
      from: { path: store("(log|lock|platform|assets)") },
      to: { path: store("(session|library|realtime|event-log|cli)") },
    },
    {
      name: "session-below-library",
      severity: "error",
      from: { path: store("session") },
      to: { path: store("(library|realtime|event-log|cli)") },
    },
    {
      name: "event-log-on-log-only",
      severity: "error",
      from: { path: store("event-log") },
      to: { path: store("(session|library|realtime|assets|cli)") },
    },
    {
      name: "realtime-below-library",
      severity: "error",
      from: { path: store("realtime") },
      to: { path: store("(library|event-log|cli)") },
    },
    {
      name: "realtime-engine-is-pure",
      comment: "only the recorder and what it writes with bind the engine to a session",
      severity: "error",
      from: {
        path: store("realtime"),
        pathNot: "^store/src/realtime/(recorder|recorder-types|log-writer|media-store|unfinished|audio-clock)\\.ts$",
      },
      to: { path: store("(session|log|lock|assets|platform)") },
    },
    {
      name: "library-below-cli",
      severity: "error",
      from: { path: store("library") },
      to: { path: store("cli") },
    },
    {
      name: "store-knows-no-extension",
      severity: "error",
      from: { path: "^store/" },
      to: { path: ["^extension/", "@raycast", "(^|/)ws/"] },
    },
    {
      name: "extension-through-the-index",
      severity: "error",
      from: { path: "^extension/src/" },
      to: { path: "^store/src/", pathNot: "^store/src/index\\.ts$" },
    },
    {
      name: "host-without-raycast",
      comment: "the session host runs outside Raycast, from its own bundle",
      severity: "error",
      from: { path: "^extension/src/(host|capture|provider|quickstart)/" },
      to: { path: ["@raycast/", "^extension/src/(components|hooks|tools)/", "node_modules/react/"] },
    },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.base.json" },
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { conditionNames: ["import", "require", "node", "default"] },
  },
};
