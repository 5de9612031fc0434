import { type JsonRecord } from "./json";

/** Where the client reports what it does and hears: the part of the store's recorder that it needs. */
export interface Evidence {
  openConnection(connection: {
    connectionId: string;
    provider: string;
    endpoint: string;
    requestedModel: string;
    api: string;
    originId: string;
  }): Promise<void>;
  observeSend(
    connectionId: string,
    event: JsonRecord,
    options: { observation: "send_attempt" | "send_failed"; wav?: { start: number; end: number } },
  ): Promise<void>;
  observeReceived(connectionId: string, data: string): Promise<void>;
  transport(
    connectionId: string,
    event: { type: "open" | "close" | "error"; code?: number; reason?: string; expected?: boolean },
  ): Promise<void>;
  /** What a lost connection left open has its outcome on a later one. */
  heardAgain(connectionId: string): void;
}

/** The samples of one recording, 24 kHz mono PCM16, while they grow. Positions are bytes from the first sample. */
export interface AudioFeed {
  readonly availableBytes: number;
  /** Nothing more will come. */
  readonly isComplete: boolean;
  read(start: number, end: number): Promise<Buffer>;
  /** Called after either of the two changed; returns the way to stop. */
  onChange(listener: () => void): () => void;
}
