// A writer to be killed: appends batches for as long as it lives and says what is durable. Bundled by the test.
import { isStoreError } from "../../src/errors";
import { EventLogBackend } from "../../src/event-log/backend";
import { type LogEvent } from "../../src/event-log/types";

const [root = "", id = "", compression = "zstd", lockDirectory = "", mode = "append", waitMs = "5000"] =
  process.argv.slice(2);

async function main(): Promise<void> {
  const store = new EventLogBackend({
    root,
    compression: compression === "none" ? "none" : "zstd",
    lockDirectory,
    leaseWaitMs: Number(waitMs),
  });
  if (mode === "create") await store.create({ id, createdAt: 1, cwd: "/srv/alpha" });
  let seq = mode === "create" ? 0 : (await store.load(id)).events.length;
  process.stdout.write(`loaded ${seq}\n`);
  for (let round = 0; ; round += 1) {
    const text = String(round % 10).repeat(1000 + ((round * 7919) % 100_000));
    const batch: LogEvent[] = [
      { type: "turn/start", seq, time: seq, data: { turn: seq + 1 } },
      { type: "todo/write", seq: seq + 1, time: seq, data: { text } },
      ...Array.from({ length: 10 }, (_, k) => ({
        type: "assistant/chunk",
        seq: seq + 2 + k,
        time: seq,
        data: { turn: seq + 1, step: 1, chunk: { type: "text-delta", index: 0, text: `w${k}` } },
      })),
    ];
    await store.append(id, batch);
    seq += batch.length;
    process.stdout.write(`acked ${seq}\n`);
  }
}

main().catch((error: unknown) => {
  process.stdout.write(`failed ${isStoreError(error) ? error.code : String(error)}\n`);
  process.exitCode = 1;
});
