/** Sends whose evidence is not durable yet; well under the recorder's own bound. */
const MAX_UNSAVED_SENDS = 160;
/** Sent and not shown to be taken by the peer: about 12 s of sound. */
const MAX_IN_FLIGHT_BYTES = 1024 * 1024;

export interface SendPumpOptions {
  /** Sends one piece. False when there is nothing to send or nowhere to send it now. */
  sendOne(): Promise<boolean>;
  /** After every piece, and when a run ends. */
  onProgress(): void;
  onError(error: unknown): void;
}

/** Runs the sending, one piece after another and never twice at a time, and says when it has to wait. */
export class SendPump {
  #isRunning = false;
  #isWanted = false;
  #unsaved = 0;

  constructor(private readonly options: SendPumpOptions) {}

  /** Something may be sent now. */
  run(): void {
    this.#isWanted = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#runAll().catch((error: unknown) => this.options.onError(error));
  }

  /** Whether the peer or the disk has to catch up first. */
  mustWait(inFlightBytes: number): boolean {
    return inFlightBytes > MAX_IN_FLIGHT_BYTES || this.#unsaved > MAX_UNSAVED_SENDS;
  }

  /** Counts a send until its evidence is saved. */
  saving(saved: Promise<void>): Promise<void> {
    this.#unsaved += 1;
    return saved.finally(() => {
      this.#unsaved -= 1;
      this.run();
    });
  }

  async #runAll(): Promise<void> {
    try {
      while (this.#isWanted) {
        this.#isWanted = false;
        while (await this.options.sendOne()) this.options.onProgress();
      }
    } finally {
      this.#isRunning = false;
      this.options.onProgress();
    }
  }
}
