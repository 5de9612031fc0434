import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Worker, type ResourceLimits } from "node:worker_threads";
import { bundleFolder } from "../commands/bundles";
import { type Answer, type Call, type IsolateOptions, type WorldReport } from "./protocol";

const root = path.join(__dirname, "../../..");
const program = path.join(root, ".cache/isolate/worker-main.cjs");
let built = false;

/** The worker's program is made from TypeScript once for each test file; esbuild runs outside jest's own realm. */
function workerProgram(): string {
  if (built) return program;
  mkdirSync(path.dirname(program), { recursive: true });
  const made = spawnSync(
    path.join(root, "node_modules/.bin/esbuild"),
    [
      path.join(__dirname, "worker-main.ts"),
      "--bundle",
      "--platform=node",
      "--format=cjs",
      "--target=node22",
      "--jsx=automatic",
      "--external:react",
      "--external:react/jsx-runtime",
      "--log-level=error",
      `--outfile=${program}`,
    ],
    { encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`esbuild failed:\n${made.stderr}`);
  built = true;
  return program;
}

export type LaunchOptions = Omit<IsolateOptions, "bundles" | "manifestPath"> & {
  env?: Record<string, string>;
  limits?: ResourceLimits;
};

/** One command in a worker of its own. Terminating the worker is what closing Raycast's window comes to. */
export class Isolate {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #next = 0;

  constructor({ env, limits, ...options }: LaunchOptions) {
    const data: IsolateOptions = {
      ...options,
      bundles: bundleFolder(),
      manifestPath: path.join(root, "extension/package.json"),
    };
    this.#worker = new Worker(workerProgram(), {
      workerData: data,
      env: { ...process.env, NODE_ENV: "test", ...env },
      ...(limits === undefined ? {} : { resourceLimits: limits }),
    });
    this.#worker.on("message", ({ id, value, error }: Answer) => {
      const waiter = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiter?.resolve(value);
      else waiter?.reject(new Error(error));
    });
    const end = (error: Error) => {
      for (const waiter of this.#waiting.values()) waiter.reject(error);
      this.#waiting.clear();
    };
    this.#worker.on("error", end);
    this.#worker.on("exit", () => end(new Error("The window was closed.")));
  }

  call<Result = void>(call: Call): Promise<Result> {
    this.#next += 1;
    const id = this.#next;
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.set(id, { resolve: (value) => resolve(value as Result), reject });
      this.#worker.postMessage({ id, call });
    });
  }

  world(): Promise<WorldReport> {
    return this.call<WorldReport>({ do: "world" });
  }

  /** The window closes: the command ends wherever it is. */
  async closeWindow(): Promise<void> {
    await this.#worker.terminate();
  }
}

export interface ProcessInfo {
  pid: number;
  parent: number;
  zombie: boolean;
  command: string;
}

/** The children of this process, those that are only remembered included. */
export function children(): ProcessInfo[] {
  return processes().filter(({ parent }) => parent === process.pid);
}

/** Every process whose arguments hold the text. */
export function processesWith(text: string): ProcessInfo[] {
  return processes().filter(({ pid, command }) => pid !== process.pid && command.includes(text));
}

function processes(): ProcessInfo[] {
  if (process.platform === "linux")
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap(fromProc);
  const listed = spawnSync("ps", ["-axo", "pid=,ppid=,state=,command="], { encoding: "utf8" });
  return listed.stdout.split("\n").flatMap((line) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || Number(pid) === listed.pid) return [];
    return [
      { pid: Number(pid), parent: Number(parent), zombie: state?.startsWith("Z") === true, command: command ?? "" },
    ];
  });
}

function fromProc(pid: string): ProcessInfo[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return [{ pid: Number(pid), parent: Number(parent), zombie: state === "Z", command }];
  } catch {
    // It ended between the listing and now.
    return [];
  }
}
