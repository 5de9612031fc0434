/**
 * A Realtime server on the loopback address: the GA protocol of OpenAI's Realtime API with a local engine behind it, so
 * that on-device transcription takes the same path as a provider's.
 */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { type JsonRecord, parseJsonRecord } from "../json";
import { createVoiceActivity } from "../vad/voice-activity";
import { type Responder } from "./response";
import { ServerSession } from "./server-session";
import { type SpeechEngine } from "./speech-engine";

/** Where a test bends the server: every point has the faithful behaviour when it is absent. */
export interface ServerHooks {
  /** Before the upgrade: an answer that refuses it, or undefined after any delay. */
  upgrade?(request: IncomingMessage): Promise<UpgradeRefusal | undefined>;
  /** Sees an outgoing event and sends it, or others, now or later. */
  outgoing?(event: JsonRecord, send: (event: JsonRecord) => void, connection: ServerConnection): void;
  /** Sees each incoming event; false keeps it from the session. */
  incoming?(event: JsonRecord, connection: ServerConnection): boolean;
  connected?(connection: ServerConnection): void;
}

export interface UpgradeRefusal {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** One client's connection as a test holds it. */
export interface ServerConnection {
  readonly index: number;
  readonly request: IncomingMessage;
  close(code: number, reason: string): void;
  /** Cuts the connection as a lost network does. */
  destroy(): void;
  /** Stops reading and answering, as a peer that hangs. */
  stall(): void;
  send(event: JsonRecord): void;
  sendText(text: string): void;
}

export interface RealtimeServerOptions {
  engine: SpeechEngine;
  responder?: Responder;
  /** When set, a client must present it: Bearer, `api-key` header or the browser's subprotocol. */
  key?: string;
  hooks?: ServerHooks;
  nowMs?(): number;
}

export interface RealtimeServer {
  /** `ws://127.0.0.1:PORT/v1/realtime` */
  readonly url: string;
  readonly port: number;
  readonly connectionCount: number;
  close(): Promise<void>;
}

const MAX_PAYLOAD_BYTES = 32 * 1024 * 1024;
const BETA_SHAPE_CLOSE = 4000;
const INSECURE_KEY_PROTOCOL = "openai-insecure-api-key.";

export async function startRealtimeServer(options: RealtimeServerOptions): Promise<RealtimeServer> {
  const http = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_PAYLOAD_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has("realtime") ? "realtime" : false),
  });
  const sessions = new Set<ServerSession>();
  const live = new Set<Duplex>();
  let connectionCount = 0;

  http.on("connection", (socket) => {
    live.add(socket);
    socket.once("close", () => live.delete(socket));
  });
  http.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    void admit(options, request).then((admission) => {
      if ("status" in admission) return refuse(socket, admission);
      if (socket.destroyed) return;
      sockets.handleUpgrade(request, socket, head, (client) => {
        connectionCount += 1;
        void serve(options, client, request, admission.url, connectionCount - 1, sessions);
      });
    });
  });
  const port = await listen(http);
  return {
    url: `ws://127.0.0.1:${port}/v1/realtime`,
    port,
    get connectionCount() {
      return connectionCount;
    },
    async close() {
      for (const session of sessions) session.close();
      for (const client of sockets.clients) client.terminate();
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      for (const socket of live) socket.destroy();
      await closed;
      await options.engine.close();
    },
  };
}

function listen(http: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    http.once("error", reject);
    http.listen(0, "127.0.0.1", () => {
      const address = http.address();
      if (address === null || typeof address === "string") reject(new Error("no address"));
      else resolve(address.port);
    });
  });
}

async function admit(options: RealtimeServerOptions, request: IncomingMessage): Promise<UpgradeRefusal | { url: URL }> {
  const hooked = await options.hooks?.upgrade?.(request);
  if (hooked !== undefined) return hooked;
  const url = urlOf(request);
  if (url === undefined) return { status: 400 };
  if (url.pathname !== "/v1/realtime") return { status: 404 };
  if (options.key !== undefined && !presentsKey(request, options.key)) {
    return { status: 401, body: '{"error":{"type":"invalid_request_error","code":"invalid_api_key"}}' };
  }
  const named = url.searchParams.has("model") || url.searchParams.get("intent") === "transcription";
  return named ? { url } : { status: 400, body: '{"error":{"code":"missing_model"}}' };
}

function presentsKey(request: IncomingMessage, key: string): boolean {
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  return (
    request.headers.authorization === `Bearer ${key}` ||
    request.headers["api-key"] === key ||
    offered.includes(INSECURE_KEY_PROTOCOL + key)
  );
}

/** Anyone on this machine can connect: what was asked for need not be an address. */
function urlOf(request: IncomingMessage): URL | undefined {
  return URL.parse(request.url ?? "/", "ws://127.0.0.1") ?? undefined;
}

function refuse(socket: Duplex, { status, headers = {}, body = "" }: UpgradeRefusal): void {
  const lines = Object.entries({ connection: "close", "content-length": String(Buffer.byteLength(body)), ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${status} Refused\r\n${head}\r\n${body}`);
}

async function serve(
  options: RealtimeServerOptions,
  client: WebSocket,
  request: IncomingMessage,
  url: URL,
  index: number,
  sessions: Set<ServerSession>,
): Promise<void> {
  // Frames that come before the session stands wait for it.
  const early: string[] = [];
  let receive = (text: string): void => void early.push(text);
  client.on("error", () => client.terminate());
  client.on("message", (data, isBinary) => receive(isBinary ? "" : data.toString()));
  const connection = connectionOf(client, request, index);
  if (wantsBeta(request)) return refuseBeta(connection);
  const activity = await createVoiceActivity();
  if (client.readyState !== client.OPEN) return activity.close();
  const { hooks } = options;
  const session = new ServerSession({
    kind: url.searchParams.get("intent") === "transcription" ? "transcription" : "realtime",
    model: url.searchParams.get("model") ?? undefined,
    engine: options.engine,
    responder: options.responder,
    activity,
    nowMs: (options.nowMs ?? Date.now)(),
    newId: (prefix) => `${prefix}_${randomBytes(12).toString("hex")}`,
    send: (event) =>
      hooks?.outgoing === undefined ? connection.send(event) : hooks.outgoing(event, connection.send, connection),
  });
  sessions.add(session);
  client.once("close", () => {
    sessions.delete(session);
    session.close();
  });
  receive = (text) => {
    const event = parseJsonRecord(text);
    if (event === undefined) return session.malformed();
    if (hooks?.incoming?.(event, connection) === false) return;
    session.receive(event);
  };
  hooks?.connected?.(connection);
  session.start();
  for (const text of early) receive(text);
}

function connectionOf(client: WebSocket, request: IncomingMessage, index: number): ServerConnection {
  const sendText = (text: string): void => {
    if (client.readyState === client.OPEN) client.send(text);
  };
  return {
    index,
    request,
    close: (code, reason) => client.close(code, reason),
    destroy: () => client.terminate(),
    stall: () => client.pause(),
    send: (event) => sendText(JSON.stringify(event)),
    sendText,
  };
}

function wantsBeta(request: IncomingMessage): boolean {
  const protocols = request.headers["sec-websocket-protocol"] ?? "";
  return request.headers["openai-beta"] !== undefined || protocols.includes("openai-beta.");
}

function refuseBeta(connection: ServerConnection): void {
  connection.send({
    type: "error",
    event_id: "event_beta",
    error: {
      type: "invalid_request_error",
      code: "beta_api_shape_disabled",
      message: "The Realtime Beta API is no longer supported. Use the GA API.",
      param: null,
      event_id: null,
    },
  });
  connection.close(BETA_SHAPE_CLOSE, "invalid_request_error.beta_api_shape_disabled");
}
