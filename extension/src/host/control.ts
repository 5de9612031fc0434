import { type HostRequest } from "./state";

/** What stops a running recording or removes one of its messages. Requests made before it listens are kept. */
export class RecordingControl {
  #listener: ((request: HostRequest) => void) | undefined;
  readonly #early: HostRequest[] = [];

  push(request: HostRequest): void {
    if (this.#listener === undefined) this.#early.push(request);
    else this.#listener(request);
  }

  listen(listener: (request: HostRequest) => void): void {
    this.#listener = listener;
    for (const request of this.#early.splice(0)) listener(request);
  }
}
