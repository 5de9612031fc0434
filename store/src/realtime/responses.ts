import { type ProviderResponse } from "./events";

/** One response of a connection while it runs. */
export interface RunningResponse {
  readonly id: string;
  inConversation: boolean;
  /** Ids of its items in the order of their announcement. */
  readonly itemIds: Set<string>;
}

/** Responses that were asked for, run, or ended, of one connection. */
export class Responses {
  #requested: { eventId: string | undefined; inConversation: boolean }[] = [];
  readonly #running = new Map<string, RunningResponse>();
  readonly #ended = new Set<string>();

  /** A `response.create` was sent. */
  request(eventId: string | undefined, inConversation: boolean): void {
    this.#requested.push({ eventId, inConversation });
  }

  /** Requests in the conversation that nothing answered yet. */
  get requestedCount(): number {
    return this.#requested.filter((request) => request.inConversation).length;
  }

  get running(): RunningResponse[] {
    return [...this.#running.values()].filter((response) => response.inConversation);
  }

  isEnded(id: string | undefined): boolean {
    return id !== undefined && this.#ended.has(id);
  }

  /** Takes up a response at its first mention; undefined once it has ended. */
  enter(id: string): RunningResponse | undefined {
    if (this.#ended.has(id)) return undefined;
    let response = this.#running.get(id);
    if (response === undefined) {
      response = { id, inConversation: true, itemIds: new Set() };
      this.#running.set(id, response);
    }
    return response;
  }

  /** `response.created` answers the oldest request of its kind. */
  created(response: ProviderResponse): void {
    this.#answer(response.inConversation);
    const running = response.id === undefined ? undefined : this.enter(response.id);
    if (running !== undefined && !response.inConversation) running.inConversation = false;
  }

  /** Ends a response. Undefined when it had ended before. */
  end(response: ProviderResponse): RunningResponse | undefined {
    const id = response.id;
    if (id === undefined) return { id: "", inConversation: response.inConversation, itemIds: new Set() };
    if (this.#ended.has(id)) return undefined;
    const known = this.#running.get(id);
    if (known === undefined) this.#answer(response.inConversation);
    const ended = known ?? { id, inConversation: response.inConversation, itemIds: new Set<string>() };
    if (!response.inConversation) ended.inConversation = false;
    this.#running.delete(id);
    this.#ended.add(id);
    return ended;
  }

  /** An error may refuse a request: the one whose event it names, or the last one when only the code says so. */
  reject(eventId: string | undefined, code: string | undefined): boolean {
    if (eventId !== undefined) return this.#drop((request) => request.eventId === eventId);
    if (code !== "conversation_already_has_active_response") return false;
    return this.#requested.pop() !== undefined;
  }

  clear(): void {
    this.#requested = [];
    this.#running.clear();
  }

  #answer(inConversation: boolean): void {
    this.#drop((request) => request.inConversation === inConversation);
  }

  #drop(matches: (request: { eventId: string | undefined; inConversation: boolean }) => boolean): boolean {
    const index = this.#requested.findIndex(matches);
    if (index === -1) return false;
    this.#requested.splice(index, 1);
    return true;
  }
}
