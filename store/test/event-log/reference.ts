/** The reference package, run in a child process because it is an ES module and keeps its own context. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";
import * as z from "zod";

const answerSchema = z.union([
  z.object({ request: z.number(), ok: z.unknown().optional(), error: z.undefined().optional() }),
  z.object({
    request: z.number(),
    error: z.object({ name: z.string(), message: z.string(), code: z.unknown().optional() }),
  }),
  z.object({ progress: z.number() }),
]);

export const digestSchema = z.object({
  meta: z.record(z.string(), z.unknown()),
  count: z.number(),
  sha256: z.string(),
});
export type Digest = z.infer<typeof digestSchema>;
export const viewSchema = z.object({ meta: z.unknown(), events: z.array(z.record(z.string(), z.unknown())) });

/** A failure of the reference. */
export class ReferenceError_ extends Error {
  constructor(
    readonly errorName: string,
    message: string,
  ) {
    super(message);
  }
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export class Reference {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, Waiting>();
  #requests = 0;
  #keys = 0;
  onProgress: (seq: number) => void = () => undefined;

  constructor() {
    this.#child = spawn(process.execPath, [join(__dirname, "reference-peer.mjs")], { stdio: ["pipe", "pipe", "pipe"] });
    let complaints = "";
    this.#child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#onLine(line));
    this.#child.on("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the reference has ended: ${complaints}`));
      this.#waiting.clear();
    });
  }

  #onLine(line: string): void {
    const answer = answerSchema.parse(JSON.parse(line));
    if ("progress" in answer) {
      this.onProgress(answer.progress);
      return;
    }
    const waiting = this.#waiting.get(answer.request);
    this.#waiting.delete(answer.request);
    if (answer.error !== undefined) waiting?.reject(new ReferenceError_(answer.error.name, answer.error.message));
    else waiting?.resolve(answer.ok);
  }

  #request(op: string, args: Record<string, unknown>): Promise<unknown> {
    this.#requests += 1;
    const request = this.#requests;
    return new Promise((resolve, reject) => {
      this.#waiting.set(request, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ request, op, ...args })}\n`);
    });
  }

  /** A backend on a root. */
  async mount(root: string, config: Record<string, unknown> = {}): Promise<ReferenceBackend> {
    this.#keys += 1;
    const key = `backend-${this.#keys}`;
    await this.#request("mount", { key, config: { root, ...config } });
    return {
      call: (method, ...args) => this.#request("call", { key, method, args }),
      digest: async (method, ...args) =>
        digestSchema.parse(await this.#request("call", { key, method, args, digest: true })),
      appendLoop: (id, batches, delayMs = 0) => this.#request("appendLoop", { key, id, batches, delayMs }),
      unmount: async () => {
        await this.#request("unmount", { key });
      },
    };
  }

  /** Ends the process at once, as a crash does. */
  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await ended;
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.stdin.end();
    await ended;
  }
}

export interface ReferenceBackend {
  call(method: string, ...args: unknown[]): Promise<unknown>;
  digest(method: string, ...args: unknown[]): Promise<Digest>;
  appendLoop(id: string, batches: unknown[], delayMs?: number): Promise<unknown>;
  unmount(): Promise<void>;
}

/** The answer of the reference, or its refusal. */
export async function referenceOutcome<T>(promise: Promise<T>): Promise<{ ok: T } | { error: string; name: string }> {
  try {
    return { ok: await promise };
  } catch (error) {
    if (error instanceof ReferenceError_) return { error: error.message, name: error.errorName };
    throw error;
  }
}
