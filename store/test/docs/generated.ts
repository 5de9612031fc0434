import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

export const project = path.resolve(__dirname, "../../..");

/**
 * Holds a page, or the part of it between its `generated` marks, to what the code says. With PERSYK_UPDATE_DOCS=1 the
 * page is written instead.
 */
export function expectGenerated(page: string, text: string): void {
  const file = path.join(project, "docs", page);
  const prettier = path.join(project, "node_modules/prettier/bin/prettier.cjs");
  const formatted = execFileSync(process.execPath, [prettier, "--stdin-filepath", file], {
    cwd: project,
    input: text,
    encoding: "utf8",
  });
  if (process.env["PERSYK_UPDATE_DOCS"] === "1") writeFileSync(file, formatted);
  const current = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (current !== formatted) {
    const remedy = `docs/${page} is not what the code says; run PERSYK_UPDATE_DOCS=1 npm test -- store/test/docs`;
    expect({ remedy, text: current }).toEqual({ remedy, text: formatted });
  }
}
