import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { root } from "./lib/node22.mjs";
import { run, toolEnvironment } from "./lib/run.mjs";

/**
 * Makes the folder that is published in the Raycast store: the extension with the store's source inside, its own
 * dependencies and its own lock file. It needs nothing of this repository.
 *
 *   node scripts/vendor-extension.mjs DIR [--no-lock] [--build]
 *
 * `--no-lock` leaves the lock file out (it is made by npm, from the network); `--build` installs and builds the copy.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "no-lock": { type: "boolean", default: false }, build: { type: "boolean", default: false } },
});
const [given] = positionals;
if (given === undefined) {
  console.error("Usage: node scripts/vendor-extension.mjs DIR [--no-lock] [--build]");
  process.exit(2);
}
const target = path.resolve(given);
if (existsSync(target) && readdirSync(target).length > 0) {
  console.error(`${target} is not empty. Give a new or empty folder.`);
  process.exit(2);
}

const extension = path.join(root, "extension");
const store = path.join(root, "store");
/** What the store's reviewers and users do not need, or what is made by a build. */
const left = new Set([
  "node_modules",
  "dist",
  "test",
  "coverage",
  "jest.config.cjs",
  "raycast-env.d.ts",
  "metadata/README.md",
  "assets/compiled_raycast_swift",
  "swift/.build",
  "swift/.raycast-swift-build",
  // Runs in a terminal (`npm start`), never in Raycast.
  "src/quickstart",
]);

mkdirSync(target, { recursive: true });
cpSync(extension, target, {
  recursive: true,
  filter: (source) => !left.has(path.relative(extension, source).split(path.sep).join("/")),
});
// The command line stays behind with its own dependencies.
cpSync(path.join(store, "src"), path.join(target, "src/store"), {
  recursive: true,
  filter: (source) => path.relative(path.join(store, "src"), source) !== "cli",
});
for (const file of ["LICENSE", "THIRD_PARTY_NOTICES.md", ".prettierrc.json"]) {
  cpSync(path.join(root, file), path.join(target, file));
}
rewriteImports(path.join(target, "src"));
writeJson("tsconfig.json", tsconfig());
writeJson("package.json", manifest());

if (!values["no-lock"]) await npm("install", "--package-lock-only", "--ignore-scripts");
if (values.build) {
  await npm("ci");
  const code = await run(process.execPath, [
    path.join(root, "scripts/ray-build.mjs"),
    "--folder",
    target,
    "--output",
    path.join(target, "dist"),
  ]);
  process.exitCode = code;
}
console.log(`The extension is in ${target}.`);

/** `@persyk/store` and its entries become the relative paths of their vendored sources. */
function rewriteImports(folder) {
  const { exports } = readJson(path.join(store, "package.json"));
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
    const file = path.join(entry.parentPath, entry.name);
    const text = readFileSync(file, "utf8");
    const rewritten = text.replaceAll(/(from |import\()"@persyk\/store(\/[^"]+)?"/g, (_match, word, entry) => {
      const source = path.join(target, "src/store", path.relative("src", exports[`.${entry ?? ""}`]));
      const relative = path.relative(path.dirname(file), source.replace(/\.ts$/, "")).split(path.sep).join("/");
      return `${word}"${relative.startsWith(".") ? relative : `./${relative}`}"`;
    });
    if (rewritten !== text) writeFileSync(file, rewritten);
  }
}

/** One file that extends nothing outside the folder. */
function tsconfig() {
  const base = readJson(path.join(root, "tsconfig.base.json"));
  const own = readJson(path.join(extension, "tsconfig.json"));
  return {
    compilerOptions: { ...base.compilerOptions, ...own.compilerOptions, types: ["node"] },
    include: ["src", "raycast-env.d.ts"],
  };
}

function manifest() {
  const own = readJson(path.join(extension, "package.json"));
  const workspace = readJson(path.join(root, "package.json"));
  const dependencies = { ...own.dependencies };
  delete dependencies["@persyk/store"];
  const stores = readJson(path.join(store, "package.json")).dependencies;
  const needed = ["proper-lockfile", "zod"];
  const tools = ["@types/node", "eslint", "prettier", "typescript"];
  const kept = ["@raycast/eslint-config", "@types/react", "@types/ws"];
  return {
    ...own,
    dependencies: sorted({ ...dependencies, ...pick(stores, needed) }),
    devDependencies: sorted({
      ...pick(own.devDependencies, kept),
      ...pick(workspace.devDependencies, tools),
      ...pick(readJson(path.join(store, "package.json")).devDependencies, ["@types/proper-lockfile"]),
    }),
    scripts: {
      build: "ray build -e dist",
      dev: "ray develop",
      "fix-lint": "ray lint --fix",
      lint: "ray lint",
      publish: "npx @raycast/api@latest publish",
    },
  };
}

function pick(from, names) {
  return Object.fromEntries(
    names.map((name) => {
      if (from[name] === undefined) throw new Error(`${name} is not a dependency any more; change this script.`);
      return [name, from[name]];
    }),
  );
}

function sorted(record) {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function writeJson(name, value) {
  writeFileSync(path.join(target, name), `${JSON.stringify(value, undefined, 2)}\n`);
}

async function npm(...args) {
  const code = await run("npm", [...args, "--no-audit", "--no-fund", "--omit-lockfile-registry-resolved"], {
    cwd: target,
    env: toolEnvironment(),
  });
  if (code !== 0) throw new Error(`npm ${args[0]} failed.`);
}
