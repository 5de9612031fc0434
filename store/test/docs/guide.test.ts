import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildSync } from "esbuild";
import { temporaryFolder } from "../library/sessions";
import { project } from "./generated";

const folder = temporaryFolder();
const env = {
  ...process.env,
  PERSYK_ROOT: path.join(folder, "sessions"),
  PERSYK_LOCK_DIRECTORY: path.join(folder, "locks"),
};

/** Each `ts` block of the guide with the `text` block that follows it. */
function examples(): { heading: string; code: string; output: string }[] {
  const guide = readFileSync(path.join(project, "docs", "guide.md"), "utf8");
  return [...guide.matchAll(/^## (.+)$([\s\S]*?)(?=^## |$(?![\s\S]))/gm)].flatMap(([, heading = "", body = ""]) =>
    [...body.matchAll(/```ts\n([\s\S]*?)```\s*```text\n([\s\S]*?)```/g)].map(([, code = "", output = ""]) => ({
      heading,
      code,
      output,
    })),
  );
}

describe("docs/guide.md", () => {
  const found = examples();

  test("has an example in every part", () => {
    expect(found.length).toBeGreaterThanOrEqual(5);
  });

  test.each(found)("$heading: the example prints what stands below it", ({ heading, code, output }) => {
    const name = heading.replace(/\W+/g, "-");
    const source = path.join(folder, `${name}.ts`);
    const program = path.join(folder, `${name}.mjs`);
    writeFileSync(source, code);
    buildSync({
      entryPoints: [source],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node22",
      alias: { "@persyk/store": path.join(project, "store/src/index.ts") },
      nodePaths: [path.join(project, "node_modules")],
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
      logLevel: "error",
    });
    const printed = execFileSync(process.execPath, ["--no-warnings", program], { env, encoding: "utf8" });
    expect(printed.trim()).toBe(output.trim());
  });
});
