import { BoundedMap } from '../core/bounded-map';

/** How many bytes of answers come with each read of an account's budget. */
const BYTES_PER_READ = 400 * 1024;
/** For how long an account may take its bytes ahead: by default some 16 MB. */
const AHEAD_MS = 2000;
/** How long an account waits at most, however long a list or a month was. */
const MAX_WAIT_MS = 3000;
/** Of more accounts than take large answers at once, those that began first are forgotten. */
const MAX_ACCOUNTS = 10_000;

/**
 * How fast accounts get answers, by their bytes: a budget counts calls, of which the largest cost a
 * thousand times as much as the smallest.
 */
export class Pace {
  readonly #bytesPerMs: number;
  /** Up to which moment an account has taken its bytes. */
  readonly #takenUntil = new BoundedMap<string, number>(MAX_ACCOUNTS);

  constructor(readsPerMinute: number) {
    this.#bytesPerMs = (readsPerMinute * BYTES_PER_READ) / 60_000;
  }

  /** Counts what an account was answered. */
  count(accountId: string, bytes: number): void {
    const now = performance.now();
    const until = Math.max(now, this.#takenUntil.get(accountId) ?? 0) + bytes / this.#bytesPerMs;
    this.#takenUntil.set(accountId, Math.min(until, now + AHEAD_MS + MAX_WAIT_MS));
  }

  /** In how many ms an account may go on; 0 where it may now. */
  waitOf(accountId: string): number {
    const ahead = (this.#takenUntil.get(accountId) ?? 0) - performance.now();
    return Math.max(0, ahead - AHEAD_MS);
  }
}
