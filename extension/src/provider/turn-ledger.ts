import { BYTES_PER_MS } from "../capture/protocol";
import { type JsonRecord, numberAt, recordAt, textAt } from "./json";

interface LedgerTurn {
  itemId: string | undefined;
  /** Positions in the recording, in bytes of samples. */
  from: number;
  to: number;
  isSettled: boolean;
  failureCode?: string;
}

/**
 * Which samples of the recording the turns of one connection cover, and which of them are settled: what has to be sent
 * again on another connection starts at the first turn that is not.
 */
export class TurnLedger {
  #turns: LedgerTurn[] = [];
  /** Client commits that the server has not answered. */
  #pendingCommits: LedgerTurn[] = [];
  /** Start of speech that the server reported and that is not committed. */
  #openSpeech: { itemId: string | undefined; from: number; to: number | undefined } | undefined;
  #committedTo: number;

  /** `origin`: the position of the first sample that was sent on the connection. */
  constructor(private readonly origin: number) {
    this.#committedTo = origin;
  }

  get openTurns(): number {
    return this.#turns.filter((turn) => !turn.isSettled).length + this.#pendingCommits.length;
  }

  get settledTurns(): number {
    return this.#turns.filter((turn) => turn.isSettled).length;
  }

  /** The end of the last turn that was committed, by whomever. */
  get committedTo(): number {
    return this.#committedTo;
  }

  get hasOpenSpeech(): boolean {
    return this.#openSpeech !== undefined;
  }

  /** Why the last turn failed, if it did. */
  get lastFailureCode(): string | undefined {
    return this.#turns.at(-1)?.failureCode;
  }

  /** The first sample that another connection has to hear. */
  get resumeAt(): number {
    const open = [...this.#turns, ...this.#pendingCommits].filter((turn) => !turn.isSettled).map((turn) => turn.from);
    const speech = this.#openSpeech === undefined ? [] : [this.#openSpeech.from];
    return Math.min(this.#committedTo, ...open, ...speech);
  }

  /** This side commits everything up to a position. */
  commitSent(to: number): void {
    this.#pendingCommits.push({ itemId: undefined, from: this.#committedTo, to, isSettled: false });
    this.#committedTo = to;
  }

  received(event: JsonRecord): void {
    const itemId = textAt(event, "item_id");
    switch (event["type"]) {
      case "input_audio_buffer.speech_started":
        this.#openSpeech = { itemId, from: this.#at(event, "audio_start_ms") ?? this.#committedTo, to: undefined };
        return;
      case "input_audio_buffer.speech_stopped":
        if (this.#openSpeech !== undefined) this.#openSpeech.to = this.#at(event, "audio_end_ms");
        return;
      case "input_audio_buffer.cleared":
        this.#openSpeech = undefined;
        return;
      case "input_audio_buffer.committed":
        return this.#committed(itemId);
      case "conversation.item.added":
      case "conversation.item.created":
        return this.#nameUnnamed(textAt(recordAt(event, "item"), "id"), textAt(recordAt(event, "item"), "role"));
      case "conversation.item.input_audio_transcription.completed":
        if (event["status"] !== "in_progress") this.#settle(itemId);
        return;
      case "conversation.item.input_audio_transcription.failed":
        return this.#settle(itemId, textAt(recordAt(event, "error"), "code") ?? "failed");
      case "conversation.item.deleted":
        return this.#settle(itemId);
      case "error":
        if (textAt(recordAt(event, "error"), "code") === "input_audio_buffer_commit_empty")
          this.#pendingCommits.shift();
        return;
      default:
        return;
    }
  }

  #committed(itemId: string | undefined): void {
    const speech = this.#openSpeech;
    const pending = this.#pendingCommits.shift();
    this.#openSpeech = undefined;
    if (pending !== undefined) {
      this.#turns.push({ ...pending, itemId });
      return;
    }
    const to = speech?.to ?? this.#committedTo;
    this.#turns.push({ itemId, from: Math.min(speech?.from ?? this.#committedTo, to), to, isSettled: false });
    this.#committedTo = Math.max(this.#committedTo, to);
  }

  /** Servers that commit without ids name the item afterwards. */
  #nameUnnamed(itemId: string | undefined, role: string | undefined): void {
    if (itemId === undefined || role !== "user" || this.#turns.some((turn) => turn.itemId === itemId)) return;
    const turn = this.#turns.find((candidate) => candidate.itemId === undefined);
    if (turn !== undefined) turn.itemId = itemId;
  }

  #settle(itemId: string | undefined, failureCode?: string): void {
    const turn =
      this.#turns.find((candidate) => candidate.itemId === itemId && itemId !== undefined) ??
      this.#turns.find((candidate) => candidate.itemId === undefined && !candidate.isSettled) ??
      this.#adopt(itemId);
    if (turn === undefined || turn.isSettled) return;
    turn.isSettled = true;
    if (failureCode !== undefined) turn.failureCode = failureCode;
  }

  /** A completion may come before the `committed` of its turn, or without one. */
  #adopt(itemId: string | undefined): LedgerTurn | undefined {
    const pending = this.#pendingCommits.shift();
    if (pending === undefined) return undefined;
    const turn = { ...pending, itemId };
    this.#turns.push(turn);
    return turn;
  }

  #at(event: JsonRecord, key: string): number | undefined {
    const ms = numberAt(event, key);
    return ms === undefined ? undefined : this.origin + Math.max(0, Math.round(ms)) * BYTES_PER_MS;
  }
}
