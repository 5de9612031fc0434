/** Runs test programs written in TypeScript as separate processes, to be stopped, killed and traced. */
import { spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { build, buildSync } from "esbuild";

const bundles = new Map<string, string>();
let folder: string | undefined;

/** Bundles `programs/<name>.ts` once and gives the path of the bundle. */
export function bundleProgram(name: string, define: Record<string, string> = {}): string {
  return bundleFile(join(__dirname, "programs", `${name}.ts`), define);
}

/** The same for a program that lies elsewhere. */
export function bundleFile(source: string, define: Record<string, string> = {}): string {
  const key = `${source}-${Buffer.from(JSON.stringify(define)).toString("hex")}`;
  const known = bundles.get(key);
  if (known !== undefined) return known;
  folder ??= fs.mkdtempSync(join(tmpdir(), "persyk-programs-"));
  const outfile = join(folder, `${basename(source, ".ts")}-${bundles.size}.cjs`);
  buildSync({
    entryPoints: [source],
    bundle: true,
    platform: "node",
    target: "node22",
    outfile,
    define,
    logLevel: "error",
  });
  bundles.set(key, outfile);
  return outfile;
}

/** A change of one place in the product, to see whether the suite notices. */
export interface Mutation {
  /** End of the path of the source file. */
  file: string;
  from: string;
  to: string;
}

/** Bundles a program over a product that is changed in the given places; throws when one is not found. */
export async function bundleMutant(name: string, mutations: readonly Mutation[]): Promise<string> {
  folder ??= fs.mkdtempSync(join(tmpdir(), "persyk-programs-"));
  const outfile = join(folder, `${name}-mutant-${fs.readdirSync(folder).length}.cjs`);
  const applied = new Set<Mutation>();
  await build({
    entryPoints: [join(__dirname, "programs", `${name}.ts`)],
    bundle: true,
    platform: "node",
    target: "node22",
    outfile,
    logLevel: "error",
    plugins: [
      {
        name: "mutate",
        setup(building) {
          building.onLoad({ filter: /store\/src\/.*\.ts$/ }, (args) => {
            let contents = fs.readFileSync(args.path, "utf8");
            for (const mutation of mutations.filter(({ file }) => args.path.endsWith(file))) {
              if (!contents.includes(mutation.from)) continue;
              contents = contents.replace(mutation.from, mutation.to);
              applied.add(mutation);
            }
            return { contents, loader: "ts" };
          });
        },
      },
    ],
  });
  const missed = mutations.find((mutation) => !applied.has(mutation));
  if (missed !== undefined) throw new Error(`the place to change is not in ${missed.file}`);
  return outfile;
}

/** Removes the bundles; to be called after all tests of a file. */
export function removeBundles(): void {
  if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true });
  folder = undefined;
  bundles.clear();
}

/** A running test program that talks in lines. */
export class Program {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  stderr = "";
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  #listeners: (() => void)[] = [];
  #over = false;

  constructor(command: string, args: readonly string[], env: Record<string, string> = {}) {
    this.child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
    const { stdout, stderr } = this.child;
    if (stdout === null || stderr === null) throw new Error("no pipes");
    stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    createInterface({ input: stdout }).on("line", (line) => {
      this.lines.push(line);
      this.#wake();
    });
    this.ended = new Promise((resolve, reject) => {
      this.child.once("error", reject);
      this.child.once("close", (code, signal) => {
        this.#over = true;
        this.#wake();
        resolve({ code, signal });
      });
    });
  }

  static node(bundle: string, args: readonly string[], env: Record<string, string> = {}): Program {
    // Compiled code is kept beside the bundle: most of a short life would be spent compiling.
    return new Program(process.execPath, [bundle, ...args], { NODE_COMPILE_CACHE: `${bundle}.cache`, ...env });
  }

  /** Waits until a line that satisfies the test has been said, now or before. */
  async line(test: string | ((line: string) => boolean)): Promise<string> {
    const matches = typeof test === "string" ? (line: string) => line === test : test;
    for (;;) {
      const found = this.lines.find(matches);
      if (found !== undefined) return found;
      if (this.#over) throw new Error(`the program ended without saying so: ${this.lines.join(" | ")} ${this.stderr}`);
      await new Promise<void>((resolve) => this.#listeners.push(resolve));
    }
  }

  say(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Waits for the end and throws unless it was a success. */
  async success(): Promise<void> {
    const { code, signal } = await this.ended;
    if (code !== 0) throw new Error(`the program failed (${code ?? signal}): ${this.stderr}`);
  }

  #wake(): void {
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}

/** Waits until a condition holds; for conditions that nothing announces. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The number of rounds of a long loop: `PERSYK_ROUNDS` scales them, 1 being the default. */
export function rounds(count: number): number {
  const factor = Number(process.env["PERSYK_ROUNDS"] ?? "1");
  return Math.max(1, Math.round(count * (Number.isFinite(factor) && factor > 0 ? factor : 1)));
}
