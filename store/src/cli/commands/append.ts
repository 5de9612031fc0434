import { setImmediate } from "node:timers/promises";
import { type Command } from "commander";
import { isoTime, systemClock } from "../../clock";
import { StoreError } from "../../errors";
import { checkEntry } from "../../format/codec";
import { parseStrictJson } from "../../format/json";
import { MAX_BATCH_BYTES, MAX_BATCH_RECORDS } from "../../format/names";
import { type EntryInput, isObject } from "../../format/schema";
import { Slicer } from "../../library/discover";
import { type Session } from "../../session/session";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption, leafOf, leafOption } from "../options";
import { plural } from "../output/format";

const MAX_STDIN_BYTES = 256 * 1_048_576;
const LINE_FEED = 0x0a;

interface Options extends RootOptions {
  parent?: string;
}

export function register(program: Command, cli: CliContext): void {
  const command = program
    .command("append")
    .description("append entries, one JSON object a line on standard input, durable when it returns")
    .argument("<session>", "location or id")
    .option(
      "--parent <id|null>",
      "parent of the first entry that names none (the last entry when left out)",
      leafOption,
    );
  addRootOption(command)
    .addHelpText(
      "after",
      `
Examples:
  persyk append SESSION < entries.jsonl
  echo '{"type":"session_info","name":"Standup"}' | persyk append SESSION

Ids, times and parents that a line leaves out are filled in; each entry without a parent follows the one before it.
Running it again with the same ids and content writes nothing twice.`,
    )
    .action(async (reference: string, options: Options) => {
      const inputs = await readInputs(await cli.readStdin(MAX_STDIN_BYTES), cli.signal);
      await cli.withSession(reference, options, async (session) => {
        const committed = await appendAll(cli, session, inputs, leafOf(options.parent));
        const leaf = committed.at(-1) ?? session.leaf;
        cli.result(
          { committed, leaf },
          () => `${plural(committed.length, "entry", "entries")} committed, leaf ${leaf}`,
        );
      });
    });
}

interface Input {
  entry: EntryInput;
  bytes: number;
}

/** Every line is checked before the first is written. */
async function readInputs(stdin: Buffer, signal: AbortSignal): Promise<Input[]> {
  const inputs: Input[] = [];
  const slicer = new Slicer(signal);
  let line = 0;
  for (let start = 0; start < stdin.length;) {
    if (slicer.due) await slicer.turn();
    const found = stdin.indexOf(LINE_FEED, start);
    const end = found === -1 ? stdin.length : found;
    line += 1;
    if (end > start) inputs.push({ entry: readInput(stdin.subarray(start, end), line), bytes: end - start });
    start = end + 1;
  }
  return inputs;
}

/** What a line leaves out is filled in for the check only: the store fills it in when it writes. */
function readInput(bytes: Buffer, line: number): EntryInput {
  const parsed = parseStrictJson(bytes);
  if (!parsed.ok || !isObject(parsed.value)) {
    throw new StoreError("record-invalid", { line, message: "The line is not a JSON object." });
  }
  const given = parsed.value;
  const filledIn = { id: "x", parentId: null, timestamp: isoTime(systemClock.now()) };
  const checked = checkEntry({ ...filledIn, ...given });
  if (!checked.ok) throw new StoreError("record-invalid", { line, message: checked.message });
  const input: EntryInput = { ...checked.value };
  if (given["id"] === undefined) delete input.id;
  if (given["parentId"] === undefined) delete input.parentId;
  if (given["timestamp"] === undefined) delete input.timestamp;
  return input;
}

async function appendAll(
  cli: CliContext,
  session: Session,
  inputs: readonly Input[],
  parent: string | null | undefined,
): Promise<string[]> {
  const committed: string[] = [];
  const progress = cli.progress("appending", "records");
  let parentId = parent === undefined ? await firstParent(session, inputs[0]?.entry.id) : parent;
  try {
    for (const batch of batches(inputs)) {
      const result = await session.append(batch, { parentId, signal: cli.signal });
      committed.push(...result.committed.map((entry) => entry.id));
      parentId = result.leaf;
      cli.ifCancelled = `The first ${committed.length} of ${plural(inputs.length, "entry", "entries")} are committed, up to ${parentId}; the rest is not.`;
      progress.update(committed.length, inputs.length);
      // A fast disk lets batch follow batch without a turn of the event loop, and a signal waits for one.
      await setImmediate();
    }
  } finally {
    progress.stop();
  }
  return committed;
}

/** The last entry; in a retry the parent that the first entry got when it was committed. */
async function firstParent(session: Session, firstId: string | undefined): Promise<string | null> {
  if (firstId === undefined || !session.has(firstId)) return session.leaf;
  return (await session.entry(firstId)).parentId;
}

/** Room for the members that are filled in. */
const FILLED_IN_BYTES = 400;

function* batches(inputs: readonly Input[]): Generator<EntryInput[]> {
  let batch: EntryInput[] = [];
  let size = 0;
  for (const { entry, bytes } of inputs) {
    const length = bytes + FILLED_IN_BYTES;
    if (batch.length === MAX_BATCH_RECORDS || (batch.length > 0 && size + length > MAX_BATCH_BYTES)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(entry);
    size += length;
  }
  if (batch.length > 0) yield batch;
}
