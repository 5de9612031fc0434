/** The sound of a recording as it comes in: the capture helper, its new asset, and what its events mean. */
import { type AvailableAsset, type CaptureLock, type Gap, recoverWav, type Session } from "@persyk/store";
import { type CaptureDeadlines, type CaptureEnd, CaptureClient } from "../capture/client";
import { type CaptureEvent, BYTES_PER_MS, DATA_OFFSET } from "../capture/protocol";
import { AudioFileFeed } from "./audio-file-feed";
import { endNoticeOf, warningOf } from "./capture-notices";
import { HostError } from "./errors";
import { type ShownState } from "./shown-state";
import { type HostOptions } from "./state";

export interface LiveCaptureDeps {
  /** The program that plays files and needs no native code: `[node, capture-stand-in.cjs]`. */
  standIn: readonly [string, ...string[]];
  deadlines?: Partial<CaptureDeadlines>;
}

export interface LiveCaptureEvents {
  /** So many bytes of samples are durable. */
  synced(dataBytes: number): void;
  /** Nothing was heard for as long as the options allow. */
  silenceLimit(): void;
}

/** A Node program takes its time to start on a busy machine, and has no microphone to wait for. */
const STAND_IN_DEADLINES: Partial<CaptureDeadlines> = { readyMs: 20_000, startMs: 20_000, finishMs: 10_000 };
/** Peaks under this are a quiet room. */
const SILENCE_FLOOR_DB = -50;
/** What a level event without a peak means: digital zero. */
const DIGITAL_SILENCE_DB = -120;

export class LiveCapture {
  readonly feed: AudioFileFeed;
  readonly asset: AvailableAsset;
  readonly #client: CaptureClient;
  readonly #gaps: Gap[] = [];
  readonly #path: string;
  #lastSoundMs = 0;

  private constructor(
    asset: { path: string; reference: AvailableAsset; fd: number },
    private readonly options: HostOptions,
    deps: LiveCaptureDeps,
    private readonly state: ShownState,
    private readonly events: LiveCaptureEvents,
  ) {
    this.#path = asset.path;
    const { source, helperPath } = options;
    const command = captureCommand(source, helperPath, deps.standIn);
    this.asset = asset.reference;
    this.feed = new AudioFileFeed(asset.path);
    this.#client = CaptureClient.launch({
      command,
      assetFd: asset.fd,
      deadlines: { ...(source.kind === "file" ? STAND_IN_DEADLINES : {}), ...deps.deadlines },
      onEvent: (event) => this.#captured(event),
    });
  }

  /** Starts the helper on a new asset of the session. Its lock lives and dies with the helper. */
  static async launch(
    session: Session,
    name: string,
    options: HostOptions,
    deps: LiveCaptureDeps,
    state: ShownState,
    events: LiveCaptureEvents,
  ): Promise<LiveCapture> {
    const file = await session.createAsset(name, "audio/wav");
    try {
      const asset = { path: file.path, reference: file.reference, fd: file.handle.fd };
      return new LiveCapture(asset, options, deps, state, events);
    } finally {
      await file.handle.close();
    }
  }

  /**
   * What the microphone missed. Times are those of the WAV, into which nothing is inserted for a gap: each gap starts at
   * the sample that it follows, whatever was missed before, and is as long as what was missed.
   */
  get gaps(): readonly Gap[] {
    return this.#gaps;
  }

  /** Waits until the lock is held and the header durable. Throws when the microphone is not allowed. */
  async ready(): Promise<void> {
    const { source, maxDurationMs } = this.options;
    const ready = await this.#client.ready();
    if (ready.permission === "denied" || ready.permission === "restricted") {
      throw new HostError(
        "permission-denied",
        "Microphone access is not allowed.",
        "Allow Raycast in System Settings → Privacy & Security → Microphone.",
      );
    }
    if (ready.device !== undefined && ready.device !== null) this.state.show({ device: ready.device.name });
    const deviceUid = source.kind === "microphone" ? source.deviceUid : null;
    this.#client.configure({ deviceUid, maxDurationMs: Math.round(maxDurationMs) });
  }

  /** Resolves at the first real buffer. */
  async start(): Promise<void> {
    await this.#client.start();
  }

  /** Resolves when the helper has ended: by itself, or because it was asked to when `stopping` resolved. */
  async toItsEnd(stopping: Promise<void>, isDiscarded: () => boolean): Promise<CaptureEnd> {
    const first = await Promise.race([this.#client.ended, stopping.then(() => undefined)]);
    this.state.show({ phase: "finishing" });
    const end = first ?? (await (isDiscarded() ? this.#client.abandon() : this.#client.stop()));
    const notice = end.kind === "finished" ? endNoticeOf(end.event.reason) : undefined;
    if (notice !== undefined) this.state.warn(notice);
    this.feed.complete();
    return end;
  }

  /**
   * After the helper's death: the header names every sample that was written, also those that the helper could not
   * announce any more (Session file format, Native writes, assets and recovery).
   */
  async repair(captureLock: CaptureLock): Promise<void> {
    const report = await recoverWav(this.#path, { captureLock });
    if (report.outcome !== "rejected") this.feed.announce(report.dataBytes);
  }

  async close(): Promise<void> {
    await this.#client.abandon();
  }

  #captured(event: CaptureEvent): void {
    switch (event.type) {
      case "chunk":
        this.feed.announce(event.offset - DATA_OFFSET + event.bytes);
        return this.state.show({ elapsedMs: this.feed.availableBytes / BYTES_PER_MS });
      case "level":
        return this.#level(event.peakDb ?? DIGITAL_SILENCE_DB);
      case "synced":
        return this.events.synced(event.dataBytes);
      case "started":
      case "device":
        if (event.device !== undefined && event.device !== null) this.state.show({ device: event.device.name });
        return;
      case "gap": {
        const startMs = Math.round((event.atOffset - DATA_OFFSET) / BYTES_PER_MS);
        this.#gaps.push({ reason: event.reason, startMs, endMs: startMs + Math.max(1, event.durationMs) });
        return;
      }
      case "warning":
        return this.state.warn({
          ...warningOf(event.code),
          ...(event.atOffset === undefined ? {} : { atMs: (event.atOffset - DATA_OFFSET) / BYTES_PER_MS }),
        });
      case "result":
        // The capture follows the system when the chosen device is not there.
        if (!event.ok && event.code === "device-not-found") this.state.warn(warningOf("device-fallback"));
        return;
      case "finished":
        this.feed.announce(event.dataBytes);
        return this.events.synced(event.dataBytes);
      default:
        return;
    }
  }

  #level(peakDb: number): void {
    const nowMs = this.feed.availableBytes / BYTES_PER_MS;
    if (peakDb > SILENCE_FLOOR_DB) this.#lastSoundMs = nowMs;
    this.state.show({ levelDb: peakDb });
    const { silenceLimitMs } = this.options;
    if (silenceLimitMs === undefined || nowMs - this.#lastSoundMs < silenceLimitMs) return;
    this.state.warn({
      code: "silence-limit",
      message: "The recording ended after a long silence.",
      remedy: "Change the limit in the preferences.",
    });
    this.events.silenceLimit();
  }
}

function captureCommand(
  source: HostOptions["source"],
  helperPath: string | undefined,
  standIn: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  if (source.kind === "file") {
    // The stand-in reads every usual WAV and needs no native code; the helper is for microphones.
    return [...standIn, "capture", "--source", "file", "--input", source.path, "--pace", String(source.pace ?? 1)];
  }
  if (helperPath === undefined) {
    throw new HostError("helper-missing", "The capture helper is not installed.", "Reinstall the extension.");
  }
  return [helperPath, "capture"];
}
