import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AvailableAsset, type Entry, type EntryInput, type JsonObject } from "../../src/format/schema";
import { RealtimeRecorder } from "../../src/realtime/recorder";
import { type RecorderSession, type RecorderSnapshot } from "../../src/realtime/recorder-types";
import { wavHeader } from "../../src/assets/wav-format";
import { createSession } from "../../src/session/create";
import { openSession, type Session } from "../../src/session/session";
import { defaultStoreContext } from "../../src/session/store-context";
import { VirtualClock } from "./virtual-clock";

export const RECORDING_ID = "rec-1";

/** A real session folder with a recorder on it, in virtual time. */
export class Recording {
  readonly sent: { connectionId: string; event: JsonObject }[] = [];
  readonly closed: string[] = [];
  readonly snapshots: RecorderSnapshot[] = [];
  /** Called before each append; throws to make it fail. */
  beforeAppend: (entries: readonly EntryInput[]) => Promise<void> | void = () => undefined;
  appends = 0;
  keepSnapshots = false;

  private constructor(
    readonly folder: string,
    readonly session: Session,
    readonly capture: { path: string; asset: AvailableAsset; write(bytes: Buffer): Promise<void> },
    readonly recorder: RealtimeRecorder,
    readonly clock: VirtualClock,
  ) {}

  static async begin(connections: readonly string[] = ["c1"], folder = recordingFolder()): Promise<Recording> {
    const session = await createSession(folder, defaultStoreContext());
    const file = await session.createAsset(`${RECORDING_ID}.wav`, "audio/wav");
    let offset = 0;
    const write = async (bytes: Buffer): Promise<void> => {
      await file.handle.write(bytes, 0, bytes.length, offset);
      offset += bytes.length;
    };
    await write(wavHeader(0));
    const holder: { self?: Recording } = {};
    const append: RecorderSession["append"] = async (entries, options) => {
      if (holder.self !== undefined) {
        holder.self.appends += 1;
        await holder.self.beforeAppend(entries);
      }
      return session.append(entries, options);
    };
    const wrapped: RecorderSession = {
      append,
      openAsset: (reference) => session.openAsset(reference),
      writeProtocolAsset: (bytes, about) => session.writeProtocolAsset(bytes, about),
      has: (id) => session.has(id),
      entry: (id) => session.entry(id),
    };
    const clock = new VirtualClock();
    const recorder = new RealtimeRecorder({
      session: wrapped,
      leaf: null,
      recordingId: RECORDING_ID,
      clock,
      send: (connectionId, event) => {
        holder.self?.sent.push({ connectionId, event });
        void recorder.observeSend(connectionId, event, { observation: "send_attempt" });
      },
      onCloseConnection: (connectionId) => holder.self?.closed.push(connectionId),
      onChange: (snapshot) => {
        if (holder.self?.keepSnapshots === true) self.snapshots.push(snapshot);
      },
    });
    const self = new Recording(folder, session, { path: file.path, asset: file.reference, write }, recorder, clock);
    holder.self = self;
    self.#closeCapture = () => file.handle.close();
    await recorder.start(file.reference);
    for (const id of connections) await self.connect(id);
    return self;
  }

  #closeCapture: () => Promise<void> = async () => undefined;

  connect(connectionId: string): Promise<void> {
    return this.recorder.openConnection({
      connectionId,
      provider: "openai",
      endpoint: "wss://user:hidden@api.openai.com/v1/realtime?intent=transcription&api_key=hidden#x",
      requestedModel: "gpt-4o-transcribe",
      api: "openai-realtime",
      originId: "installation-1",
    });
  }

  /** Does not wait for the disk; `recorder.settled()` does. */
  receive(event: JsonObject, connectionId = "c1"): Promise<void> {
    void this.recorder.observeReceived(connectionId, JSON.stringify(event));
    return Promise.resolve();
  }

  /** A committed turn, in the upstream order; its transcript comes separately. */
  async turn(id: string, previous: string | null): Promise<void> {
    await this.receive({ type: "input_audio_buffer.committed", item_id: id, previous_item_id: previous });
  }

  async transcript(id: string, text: string): Promise<void> {
    await this.receive({
      type: "conversation.item.input_audio_transcription.completed",
      item_id: id,
      content_index: 0,
      transcript: text,
    });
  }

  /** All entries of the file, read by a second reader that also judges it. */
  entries(): Promise<Entry[]> {
    return readEntries(this.session.location);
  }

  async texts(): Promise<string[]> {
    return (await this.entries()).flatMap((entry) =>
      entry.type === "message"
        ? entry.message.content.flatMap((block) => ("text" in block ? String(block.text) : []))
        : [],
    );
  }

  /** Leaves the folder to a reader of another process. */
  async close(): Promise<void> {
    await this.#closeCapture();
    await this.session.close();
  }

  async end(): Promise<void> {
    await this.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function recordingFolder(): string {
  return mkdtempSync(join(tmpdir(), "persyk-realtime-"));
}

/** All entries of a session, which has to inspect as valid. */
export async function readEntries(location: string): Promise<Entry[]> {
  const reader = await openSession(location, defaultStoreContext());
  try {
    expect(reader.verdict).toBe("valid");
    expect(reader.diagnostics).toEqual([]);
    const entries: Entry[] = [];
    for (let after: string | null = null; ;) {
      const page = await reader.entries(after === null ? {} : { after });
      entries.push(...page.entries);
      after = page.next;
      if (after === null) return entries;
    }
  } finally {
    await reader.close();
  }
}
