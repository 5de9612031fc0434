// The reference package in a process of its own: one JSON request a line on standard input, one answer a line.
import { createInterface } from "node:readline";
import { createHash } from "node:crypto";
import { Context } from "@deepseek-ai/cordis";
import { SessionStore } from "@deepseek-ai/dsh-session";
import { JsonlSessionPersistence } from "@deepseek-ai/dsh-session-persistence-jsonl";

const backends = new Map();

async function mount(key, config) {
  const ctx = new Context();
  await ctx.plugin(SessionStore);
  const fiber = await ctx.plugin(JsonlSessionPersistence, config);
  backends.set(key, { ctx, fiber, store: ctx.sessionPersistence });
}

function describe(error) {
  return { name: error?.name ?? "unknown", message: String(error?.message ?? error), code: error?.code };
}

const operations = {
  mount: ({ key, config }) => mount(key, config),
  unmount: async ({ key }) => {
    await backends.get(key)?.fiber.dispose();
    backends.delete(key);
  },
  call: async ({ key, method, args, digest }) => {
    const result = await backends.get(key).store[method](...args);
    if (digest !== true) return result ?? null;
    const text = JSON.stringify(result.events);
    return { meta: result.meta, count: result.events.length, sha256: createHash("sha256").update(text).digest("hex") };
  },
  // Appends batches until it is stopped, and says so after each.
  appendLoop: async ({ key, id, batches, delayMs }) => {
    let done = 0;
    for (const batch of batches) {
      await backends.get(key).store.append(id, batch);
      done += 1;
      process.stdout.write(`${JSON.stringify({ progress: batch.at(-1).seq })}\n`);
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
    return done;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { request, op, ...args } = JSON.parse(line);
  try {
    const value = await operations[op](args);
    process.stdout.write(`${JSON.stringify({ request, ok: value ?? null })}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ request, error: describe(error) })}\n`);
  }
}
