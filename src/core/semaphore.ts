/** Lets so many pieces of work be in progress at once; the others wait, in the order they came. */
export class Semaphore {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** Does `work` once there is a place for it. @throws what it throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /**
   * Waits for a place, which is to be left by {@link leave}.
   *
   * @param until makes what ends the wait, where there is one: the first of these. Not one made of
   *   them by `AbortSignal.any`, which garbage collection may keep from ending in time.
   * @returns whether there was one before that
   */
  async enter(until: () => readonly AbortSignal[] = () => []): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    return new Promise((resolve) => {
      const begin = (): void => {
        resolve(true);
      };
      this.#waiting.add(begin);
      for (const signal of until()) {
        signal.addEventListener('abort', () => {
          if (this.#waiting.delete(begin)) resolve(false);
        });
      }
    });
  }

  leave(): void {
    // Handed on, so that nobody who comes just now is served first.
    const [next] = this.#waiting;
    if (!next) this.#free += 1;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
