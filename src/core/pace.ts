import { BoundedMap } from './bounded-map';
import { serviceUnavailable } from './errors';
import { within } from './timeout';

const MINUTE_MS = 60_000;
/** Of more than these, those that began first are forgotten. */
const MAX_TAKERS = 10_000;

interface PaceOptions {
  /** How much an account, or an address, gets in the long run. */
  perMinute: number;
  /** For how long it may take that at once. */
  burstMs: number;
  /** How long it waits at most for its burst, however much it took. */
  maxWaitMs?: number;
  /** The clock, in milliseconds. */
  now?: () => number;
}

/**
 * How fast accounts, or addresses, get what no budget bounds but by the minute, or none at all: a
 * leaky bucket for each.
 */
export class Pace {
  readonly #options: Required<PaceOptions>;
  /** Up to which moment each has taken what it gets. */
  readonly #takenUntil = new BoundedMap<string, number>(MAX_TAKERS);

  constructor(options: PaceOptions) {
    this.#options = { maxWaitMs: Infinity, now: () => performance.now(), ...options };
  }

  /** Counts what somebody took; less than nothing is given back. */
  count(id: string, amount: number): void {
    const { burstMs, maxWaitMs, now } = this.#options;
    const until = now() + this.#aheadOf(id) + this.#msOf(amount);
    this.#takenUntil.set(id, Math.min(until, now() + burstMs + maxWaitMs));
  }

  /** Whether somebody may have so much more, after the longest wait at the latest. */
  hasRoom(id: string, amount: number): boolean {
    const { burstMs, maxWaitMs } = this.#options;
    return this.#aheadOf(id) + this.#msOf(amount) <= burstMs + maxWaitMs;
  }

  /** In how many ms somebody may go on, with a burst of so long; 0 where that is now. */
  waitOf(id: string, burstMs = this.#options.burstMs): number {
    return Math.max(0, this.#aheadOf(id) - burstMs);
  }

  /**
   * Waits until somebody may go on.
   *
   * @param sent fulfilled when the caller is gone, which ends the wait
   * @throws ApiError service_unavailable then: nobody is there to be answered
   */
  async wait(id: string, sent: Promise<unknown>): Promise<void> {
    const ms = this.waitOf(id);
    if (ms === 0) return;
    const gone = sent.then(() => true);
    if (await within(ms, gone)) {
      throw serviceUnavailable.error('The call was not made: its caller is gone.');
    }
  }

  #aheadOf(id: string): number {
    return Math.max(0, (this.#takenUntil.get(id) ?? 0) - this.#options.now());
  }

  #msOf(amount: number): number {
    return (amount / this.#options.perMinute) * MINUTE_MS;
  }
}
