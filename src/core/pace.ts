import { BoundedMap } from './bounded-map';
import { serviceUnavailable } from './errors';
import { within } from './timeout';

const MINUTE_MS = 60_000;
/** Of more than these, those that began first are forgotten. */
const MAX_ACCOUNTS = 10_000;

interface PaceOptions {
  /** How much an account gets in the long run. */
  perMinute: number;
  /** For how long it may take that at once. */
  burstMs: number;
  /** How long it waits at most for its burst, however much it took. */
  maxWaitMs?: number;
  /** The clock, in milliseconds. */
  now?: () => number;
}

/**
 * How fast accounts get what their budget bounds by the minute only, or not at all: a leaky bucket
 * for each.
 */
export class Pace {
  readonly #options: Required<PaceOptions>;
  /** Up to which moment an account has taken what it gets. */
  readonly #takenUntil = new BoundedMap<string, number>(MAX_ACCOUNTS);

  constructor(options: PaceOptions) {
    this.#options = { maxWaitMs: Infinity, now: () => performance.now(), ...options };
  }

  /** Counts what an account took. */
  count(accountId: string, amount: number): void {
    const { perMinute, burstMs, maxWaitMs } = this.#options;
    const now = this.#options.now();
    const from = Math.max(now, this.#takenUntil.get(accountId) ?? 0);
    const until = from + (amount / perMinute) * MINUTE_MS;
    this.#takenUntil.set(accountId, Math.min(until, now + burstMs + maxWaitMs));
  }

  /** In how many ms an account may go on, with a burst of so long; 0 where it may now. */
  waitOf(accountId: string, burstMs = this.#options.burstMs): number {
    const ahead = (this.#takenUntil.get(accountId) ?? 0) - this.#options.now();
    return Math.max(0, ahead - burstMs);
  }

  /**
   * Waits until an account may go on.
   *
   * @param sent fulfilled when the caller is gone, which ends the wait
   * @throws ApiError service_unavailable then: nobody is there to be answered
   */
  async wait(accountId: string, sent: Promise<unknown>): Promise<void> {
    const ms = this.waitOf(accountId);
    if (ms === 0) return;
    const gone = sent.then(() => true);
    if (await within(ms, gone)) {
      throw serviceUnavailable.error('The call was not made: its caller is gone.');
    }
  }
}
