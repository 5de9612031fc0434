/**
 * One WebSocket connection to a Realtime server: handshake, `session.update`, liveness, and how much of what was sent
 * the peer has really taken. It knows nothing of audio and turns.
 */
import WebSocket from "ws";
import { httpFailure, isFinalCode, providerFailure, type ProviderFailure } from "./failure";
import { type JsonRecord, parseJsonRecord, recordAt, textAt } from "./json";
import { type ConnectionPlan } from "./plan";
import { redactText } from "./redact";

export interface ConnectionTiming {
  handshakeMs: number;
  /** From the open socket to `session.updated`. */
  configureMs: number;
  pingMs: number;
  /** Without any sign of the peer after a ping. */
  deadMs: number;
}

export const connectionTiming: ConnectionTiming = {
  handshakeMs: 10_000,
  configureMs: 10_000,
  pingMs: 15_000,
  deadMs: 15_000,
};

export interface ConnectionEnding {
  /** True when this side asked for it. */
  expected: boolean;
  /** True when another connection may do better. */
  retry: boolean;
  failure: ProviderFailure;
  code?: number;
  /** Without secrets. */
  reason?: string;
}

export interface ConnectionEvents {
  opened(): void;
  /** Every text frame, before anything is done with it. */
  frame(text: string, event: JsonRecord | undefined): void;
  ready(): void;
  /** The peer took more: sending may go on. */
  drained(): void;
  /** Once, last. */
  ended(ending: ConnectionEnding): void;
}

type State = "connecting" | "configuring" | "ready" | "ended";

const MAX_PAYLOAD_BYTES = 32 * 1024 * 1024;
/** A ping is put between the data this often; its answer proves that everything before it was taken. */
const PING_EVERY_BYTES = 256 * 1024;
const NORMAL_CLOSE = 1000;
/** Codes by which a server says that the same again would fail: policy, and the private range of refusals. */
const FINAL_CLOSE_CODES: ReadonlySet<number> = new Set([1008, 3000, 3003, 4000, 4001, 4003]);

export class RealtimeConnection {
  #state: State = "connecting";
  readonly #socket: WebSocket;
  #timer: NodeJS.Timeout | undefined;
  #pings = new Map<string, number>();
  #pingCount = 0;
  #sentBytes = 0;
  #takenBytes = 0;
  #pingedBytes = 0;
  #heartbeat: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #failure: { failure: ProviderFailure; retry: boolean } | undefined;
  #closing = false;
  #updateEventId = "";

  constructor(
    readonly id: string,
    private readonly plan: ConnectionPlan,
    private readonly timing: ConnectionTiming,
    private readonly events: ConnectionEvents,
    private readonly sendUpdate: (event: JsonRecord) => void,
  ) {
    this.#socket = new WebSocket(plan.url, {
      headers: plan.headers,
      handshakeTimeout: timing.handshakeMs,
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: MAX_PAYLOAD_BYTES,
    });
    this.#listen();
  }

  get isReady(): boolean {
    return this.#state === "ready" && !this.#closing;
  }

  /** Bytes that were handed over and that the peer has not shown to have taken. */
  get inFlightBytes(): number {
    return this.#sentBytes - this.#takenBytes;
  }

  /** Asks the peer to show that it has taken everything; `drained` says so. */
  probe(): void {
    if (this.#pingedBytes < this.#sentBytes) this.#ping();
  }

  /** False when the socket is not open any more. */
  send(event: JsonRecord): boolean {
    if (this.#socket.readyState !== WebSocket.OPEN) return false;
    const text = JSON.stringify(event);
    this.#socket.send(text, () => undefined);
    this.#sentBytes += text.length;
    if (this.#sentBytes - this.#pingedBytes >= PING_EVERY_BYTES) this.#ping();
    return true;
  }

  /** Closes politely, and by force when the peer does not answer within `graceMs`. */
  close(graceMs: number): void {
    if (this.#state === "ended") return;
    this.#closing = true;
    if (this.#socket.readyState === WebSocket.CONNECTING || graceMs <= 0) return this.#socket.terminate();
    this.#socket.close(NORMAL_CLOSE);
    this.#after(graceMs, () => this.#socket.terminate());
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on("open", () => {
      this.#state = "configuring";
      this.events.opened();
      this.#after(this.timing.configureMs, () => this.#fail("handshake-timeout", true));
      this.#heartbeat = setInterval(() => this.#ping(), this.timing.pingMs);
    });
    socket.on("message", (data, isBinary) => this.#message(isBinary ? "" : String(data)));
    socket.on("pong", (data) => this.#pong(data.toString()));
    socket.on("unexpected-response", (_request, response) => {
      const status = response.statusCode ?? 0;
      this.#failure ??= { failure: httpFailure(status), retry: status >= 500 };
      response.resume();
      socket.terminate();
    });
    // The error of the library may quote the request with its headers: only its code is looked at.
    socket.on("error", (error: NodeJS.ErrnoException) => {
      this.#failure ??= { failure: providerFailure(errorCode(error, this.#state)), retry: true };
    });
    socket.on("close", (code, reason) => this.#closed(code, reason.toString()));
  }

  #message(text: string): void {
    const event = parseJsonRecord(text);
    this.events.frame(text, event);
    if (event === undefined || this.#state === "ended") return;
    const type = event["type"];
    if (type === "session.created" && this.#state === "configuring" && this.#updateEventId === "") this.#configure();
    if (type === "conversation.created" && this.#state === "configuring" && this.#updateEventId === "")
      this.#configure();
    if (type === "session.updated" && this.#state === "configuring") {
      clearTimeout(this.#timer);
      this.#state = "ready";
      this.events.ready();
    }
    if (type === "error") this.#serverError(recordAt(event, "error"));
  }

  #configure(): void {
    this.#updateEventId = `update_${this.id}`;
    this.sendUpdate({ type: "session.update", event_id: this.#updateEventId, session: this.plan.sessionUpdate });
  }

  #serverError(error: JsonRecord | undefined): void {
    const code = textAt(error, "code") ?? textAt(error, "type") ?? "";
    // Before the session stands nothing else was asked for, so an error then is about it, with or without our id.
    if (this.#state === "configuring") return this.#fail(isFinalCode(code) ? code : "session-refused", false);
    if (isFinalCode(code)) return this.#fail(code, false);
    if (code === "session_expired") this.#failure ??= { failure: providerFailure(code), retry: true };
  }

  #fail(code: string, retry: boolean): void {
    this.#failure ??= { failure: providerFailure(code), retry };
    this.#socket.terminate();
  }

  #ping(): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#pingCount += 1;
    const name = String(this.#pingCount);
    this.#pings.set(name, this.#sentBytes);
    this.#pingedBytes = this.#sentBytes;
    this.#socket.ping(name, undefined, () => undefined);
    this.#deadline ??= setTimeout(() => this.#fail("not-answering", true), this.timing.deadMs);
  }

  #pong(name: string): void {
    const bytes = this.#pings.get(name);
    if (bytes === undefined) return;
    for (const [earlier, at] of this.#pings) if (at <= bytes) this.#pings.delete(earlier);
    this.#takenBytes = Math.max(this.#takenBytes, bytes);
    clearTimeout(this.#deadline);
    this.#deadline =
      this.#pings.size === 0 ? undefined : setTimeout(() => this.#fail("not-answering", true), this.timing.deadMs);
    this.events.drained();
  }

  #after(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
  }

  #closed(code: number, reason: string): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    clearTimeout(this.#timer);
    clearTimeout(this.#deadline);
    clearInterval(this.#heartbeat);
    const known = this.#failure ?? { failure: providerFailure("connection-lost"), retry: !FINAL_CLOSE_CODES.has(code) };
    const clean = redactText(reason, this.plan.secrets);
    this.events.ended({
      expected: this.#closing,
      ...known,
      code,
      ...(clean === "" ? {} : { reason: clean }),
    });
  }
}

function errorCode(error: NodeJS.ErrnoException, state: State): string {
  if (error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") return "frame-too-large";
  if (state !== "connecting") return "connection-lost";
  return /handshake has timed out/i.test(error.message) ? "handshake-timeout" : "unreachable";
}
