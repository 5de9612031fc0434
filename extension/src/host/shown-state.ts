import { type HostNotice, type HostState } from "./state";

/** The state of one recording as it is shown, and everybody who is told of its changes. */
export class ShownState {
  #state: HostState;

  constructor(
    initial: HostState,
    private readonly onState: ((state: HostState) => void) | undefined,
  ) {
    this.#state = initial;
  }

  get current(): HostState {
    return this.#state;
  }

  show(change: Partial<HostState>): void {
    this.#state = { ...this.#state, ...change };
    this.onState?.(this.#state);
  }

  /** The first warning of each code stays. */
  warn(notice: HostNotice): void {
    if (this.#state.warnings.some(({ code }) => code === notice.code)) return;
    this.show({ warnings: [...this.#state.warnings, notice] });
  }
}
