/**
 * Event-log backend, Events: the one validation that appending and reading share. What it accepts can be read back,
 * here and by the reference; what a reader would refuse is refused when it is written.
 */
import { StoreError } from "../errors";
import { TurnTracker } from "./closers";
import { corrupt, placeOf, unsupported, type LogPlace } from "./errors";
import { refuseRetired, upgrade, type StoredEvent } from "./legacy";
import { assertMessageShape, assertRequestHeader, isLogEvent, messageOf, SURFACE_TYPES } from "./shape";
import { assertMarkers, Surface } from "./surface";
import { type JsonRecord, type LogEvent } from "./types";
import { KNOWN_EVENT_TYPES } from "./vocabulary";

/** The order in which a whole log is checked: a failure of an earlier stage is the one that is reported. */
const STAGES = ["retired", "shape", "vocabulary", "turns", "header", "surface"] as const;
type Stage = (typeof STAGES)[number];

interface ValidatorOptions {
  readonly sessionId: string;
  /** Event types beyond the format's own that the caller understands. */
  readonly extraTypes?: ReadonlySet<string> | undefined;
  /** The events before the first one are not at hand, so what a replacement refers to cannot be checked. */
  readonly isSuffix?: boolean;
}

export class EventValidator {
  readonly #options: ValidatorOptions;
  readonly #surface = new Surface();
  #tracker = new TurnTracker();
  #saved: { tracker: TurnTracker; messages: number[] } | undefined;
  readonly #messageIds = new Map<number, string>();
  readonly #failures = new Map<Stage, StoreError>();

  constructor(options: ValidatorOptions) {
    this.#options = options;
  }

  get tracker(): TurnTracker {
    return this.#tracker;
  }

  /** Takes note of the last event of a packed row. Its events are valid by construction and change nothing. */
  acceptRow(lastSeq: number, lastTime: number): void {
    this.#tracker.note(lastSeq, lastTime);
  }

  /**
   * Checks the next event and gives it in today's shape, or undefined when it is refused; `finish` then throws. A whole
   * log is always gone through, so that what is reported does not depend on which of several problems comes first.
   */
  accept(event: StoredEvent, place: LogPlace): LogEvent | undefined {
    let stage: Stage = "retired";
    try {
      refuseRetired(event, this.#options.sessionId);
      stage = "shape";
      const current = this.#upgrade(event);
      assertMessageShape(current);
      stage = "vocabulary";
      this.#assertKnown(current);
      stage = "turns";
      if (this.#failures.size === 0) this.#tracker.observe(current);
      stage = "surface";
      if (!isLogEvent(current)) throw corrupt(`event at seq ${event.seq} has an invalid event envelope`);
      assertRequestHeader(current);
      if (this.#failures.size === 0) this.#applyToSurface(current);
      this.#noteMessage(current);
      return current;
    } catch (error) {
      this.#fail(stage, error, place);
      return undefined;
    }
  }

  /** Reports a header that only loading refuses, in its place among the checks. */
  failHeader(problem: string): void {
    this.#fail("header", corrupt(problem), { line: 1, offset: 0 });
  }

  get hasFailed(): boolean {
    return this.#failures.size > 0;
  }

  /** Throws what the checks found, if anything. */
  finish(): void {
    for (const stage of STAGES) {
      const failure = this.#failures.get(stage);
      if (failure !== undefined) throw failure;
    }
  }

  /** Checks one event that is to be written, and throws at once. Between `begin` and `commit` or `rollback`. */
  admit(event: StoredEvent): void {
    this.accept(event, {});
    this.finish();
  }

  begin(): void {
    this.#saved = { tracker: this.#tracker.clone(), messages: [] };
    this.#surface.begin();
  }

  commit(): void {
    this.#saved = undefined;
    this.#surface.commit();
  }

  rollback(): void {
    this.#surface.rollback();
    if (this.#saved !== undefined) {
      this.#tracker = this.#saved.tracker;
      for (const seq of this.#saved.messages) this.#messageIds.delete(seq);
    }
    this.#failures.clear();
    this.#saved = undefined;
  }

  #upgrade(event: StoredEvent): StoredEvent {
    return upgrade(event, {
      sessionId: this.#options.sessionId,
      messageIdAt: (seq) => this.#messageIds.get(seq),
    });
  }

  #assertKnown(event: StoredEvent): void {
    const { type, ignorable } = event;
    if (ignorable === true) return;
    if (typeof type === "string" && (KNOWN_EVENT_TYPES.has(type) || this.#options.extraTypes?.has(type) === true)) {
      return;
    }
    throw unsupported(
      `session "${this.#options.sessionId}" contains event type "${String(type)}" (seq ${event.seq}) that is unknown here and not marked ignorable; refusing to interpret the log`,
    );
  }

  #applyToSurface(event: LogEvent): void {
    if (this.#options.isSuffix === true) assertMarkers(event);
    else if (SURFACE_TYPES.has(event.type) || event.surfaceOp !== undefined || event.sourceEventSeqs !== undefined) {
      this.#surface.apply(event);
    }
  }

  #noteMessage(event: LogEvent & JsonRecord): void {
    const id = messageOf(event)?.["id"];
    if (typeof id !== "string") return;
    this.#messageIds.set(event.seq, id);
    this.#saved?.messages.push(event.seq);
  }

  #fail(stage: Stage, error: unknown, place: LogPlace): void {
    if (!(error instanceof StoreError)) throw error;
    if (this.#failures.has(stage)) return;
    const { sessionId } = this.#options;
    const message =
      error.code === "event-log-corrupt"
        ? `stored session "${sessionId}" failed validation: ${error.message}`
        : error.message;
    this.#failures.set(
      stage,
      new StoreError(error.code, { ...placeOf(place), sessionId, message, remedy: error.remedy, cause: error }),
    );
  }
}
