import { CAPTURE_DATA_OFFSET, CAPTURE_SAMPLE_RATE } from "../assets/wav-format";

export interface AudioRange {
  startMs: number;
  endMs: number;
}

const BYTES_PER_MS = (CAPTURE_SAMPLE_RATE * 2) / 1000;
/** Neighbouring pieces are merged, so this many means a source with gaps everywhere. */
const MAX_PIECES = 4_096;

/**
 * Where in the recording a connection's audio lies. The provider counts milliseconds of the audio that it was sent; the
 * client knows which part of the capture each piece came from.
 */
export class AudioClock {
  /** In the order sent, merged where they are neighbours: connection time, recording time, length. */
  readonly #pieces: { sentMs: number; recordingMs: number; lengthMs: number }[] = [];
  readonly #commitsMs: number[] = [];
  #sentMs = 0;

  /** A piece of audio was sent; offsets in the whole capture file. */
  sent(wav: { start: number; end: number } | undefined, audioBytes: number): void {
    if (wav === undefined) {
      this.#sentMs += audioBytes / BYTES_PER_MS;
      return;
    }
    const recordingMs = (wav.start - CAPTURE_DATA_OFFSET) / BYTES_PER_MS;
    const lengthMs = (wav.end - wav.start) / BYTES_PER_MS;
    const last = this.#pieces.at(-1);
    const isNeighbour =
      last !== undefined &&
      Math.abs(last.sentMs + last.lengthMs - this.#sentMs) < 0.5 &&
      Math.abs(last.recordingMs + last.lengthMs - recordingMs) < 0.5;
    if (isNeighbour) last.lengthMs += lengthMs;
    else if (this.#pieces.length < MAX_PIECES) this.#pieces.push({ sentMs: this.#sentMs, recordingMs, lengthMs });
    this.#sentMs += lengthMs;
  }

  /** The client committed what it had sent. */
  committed(): void {
    this.#commitsMs.push(this.#sentMs);
  }

  /**
   * The place of a turn in the recording, or undefined when it is not known. What was never ended, such as a gap, may
   * reach to the end of what was sent.
   */
  rangeOf(
    turn: { audioStartMs?: number; audioEndMs?: number; commitOrdinal?: number },
    options: { isOpenEnded?: boolean } = {},
  ): AudioRange | undefined {
    const { commitOrdinal } = turn;
    const committedAt = commitOrdinal === undefined ? undefined : this.#commitsMs[commitOrdinal];
    const previous =
      commitOrdinal === undefined ? undefined : commitOrdinal === 0 ? 0 : this.#commitsMs[commitOrdinal - 1];
    const sentEnd = options.isOpenEnded === true ? this.#sentMs : undefined;
    const startMs = this.#recordingMs(turn.audioStartMs ?? previous, "start");
    const endMs = this.#recordingMs(turn.audioEndMs ?? committedAt ?? sentEnd, "end");
    if (startMs === undefined || endMs === undefined) return undefined;
    const range = { startMs: Math.max(0, Math.round(startMs)), endMs: Math.round(endMs) };
    return range.endMs > range.startMs ? range : undefined;
  }

  #recordingMs(sentMs: number | undefined, side: "start" | "end"): number | undefined {
    if (sentMs === undefined) return undefined;
    const piece = this.#pieces.findLast((candidate) =>
      side === "start" ? candidate.sentMs <= sentMs : candidate.sentMs < sentMs,
    );
    if (piece === undefined) return undefined;
    return piece.recordingMs + Math.min(sentMs - piece.sentMs, piece.lengthMs);
  }
}
