import { setImmediate } from 'node:timers/promises';

interface Turn {
  /** Undefined where it has begun when it was given. */
  begin: Promise<unknown> | undefined;
  end: Promise<unknown>;
  /** How many more callers may have it. */
  left: number;
}

/**
 * Turns of the event loop, each for so many callers of a kind: what would keep all others waiting,
 * were much of it done in one turn, is spread over many.
 */
export class Turns {
  readonly #callers: number;
  /** The turn that was given last, by kind; kinds without one are left out. */
  readonly #latest = new Map<string, Turn>();

  /** @param callers how many of a kind get a turn together */
  constructor(callers: number) {
    this.#callers = callers;
  }

  /** Waits for a turn; not where fewer callers of this kind have the present one. */
  async next(kind: string): Promise<void> {
    const latest = this.#latest.get(kind);
    const turn = latest && latest.left > 0 ? latest : this.#add(kind, latest?.end);
    turn.left -= 1;
    await turn.begin;
  }

  #add(kind: string, begin: Promise<unknown> | undefined): Turn {
    const end = (begin ?? Promise.resolve()).then(() => setImmediate());
    const turn = { begin, end, left: this.#callers };
    this.#latest.set(kind, turn);
    void end.then(() => {
      if (this.#latest.get(kind) === turn) this.#latest.delete(kind);
    });
    return turn;
  }
}

const turns = new Turns(1);

/** Waits for a turn that no other caller gets, before a piece of work that takes milliseconds. */
export function ownTurn(): Promise<void> {
  return turns.next('');
}
