const LONGEST_TIMER_MS = 2_147_483_647;

/** Lets callers wait for a state that something else brings about, without looking at it again and again. */
export class Changes {
  readonly #waiters = new Set<() => void>();

  /** Something changed: everyone who waits looks again. */
  wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  /** Resolves with the next change, or after `atMostMs`. */
  async next(atMostMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, Math.min(atMostMs, LONGEST_TIMER_MS));
      const waiters = this.#waiters;
      function done(): void {
        clearTimeout(timer);
        waiters.delete(done);
        resolve();
      }
      waiters.add(done);
    });
  }

  /** True once it is done; false when it is not going to be: it is over, or there was no progress for `idleMs`. */
  async until(
    what: { isDone(): boolean; isOver(): boolean; progress(): string | number },
    idleMs: number,
  ): Promise<boolean> {
    for (let before: string | number | undefined, deadline = 0; ;) {
      if (what.isDone()) return true;
      if (what.isOver()) return false;
      const now = Date.now();
      const progress = what.progress();
      if (progress !== before) {
        before = progress;
        deadline = now + idleMs;
      }
      if (now >= deadline) return false;
      await this.next(deadline - now);
    }
  }
}
