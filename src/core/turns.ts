import { setImmediate } from 'node:timers/promises';

/**
 * Turns of the event loop, one for each caller of a kind: what would keep all others waiting, were
 * several of it done in one turn, is done one by one.
 */
export class Turns {
  /** Fulfilled when the turn that was given last is over, by kind; kinds without one are left out. */
  readonly #latest = new Map<string, Promise<unknown>>();

  /** Waits until no other caller of this kind has the turn; at once where none has it. */
  async next(kind: string): Promise<void> {
    const before = this.#latest.get(kind);
    const turn = (before ?? Promise.resolve()).then(() => setImmediate());
    this.#latest.set(kind, turn);
    void turn.then(() => {
      if (this.#latest.get(kind) === turn) this.#latest.delete(kind);
    });
    await before;
  }
}

const turns = new Turns();

/** Waits for a turn before a piece of work that takes milliseconds. */
export function ownTurn(): Promise<void> {
  return turns.next('');
}
