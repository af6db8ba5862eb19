import { BoundedMap } from '../../src/core/bounded-map';
import { rateLimited } from '../../src/core/errors';
import { WRITE_DEADLINE_SECONDS } from '../../src/core/host-settings';
import { Pace } from '../../src/core/pace';

/** How many events of an account are counted anew in a minute, in the long run; all, where it has very many. */
const EVENTS_PER_MINUTE = 100_000;
const BURST_MS = 60_000;
/** How long an account waits at most, however many events it has. */
const MAX_WAIT_MS = 120_000;
/** Of more accounts than change their zone at once, those that began first are forgotten. */
const MAX_ACCOUNTS = 10_000;

/**
 * How often all events of an account are counted anew: each time costs some seconds of processor
 * time for a million of them, however cheap the call is that asks for it.
 */
export class RecountPace {
  readonly #now: () => number;
  readonly #pace: Pace;
  /** To which zone, and until when, a change may be the last one, tried again. */
  readonly #last = new BoundedMap<string, { timezone: string; until: number }>(MAX_ACCOUNTS);

  /** @param now a clock in milliseconds that is never set */
  constructor(now = () => performance.now()) {
    this.#now = now;
    this.#pace = new Pace({
      perMinute: EVENTS_PER_MINUTE,
      burstMs: BURST_MS,
      maxWaitMs: MAX_WAIT_MS,
      now,
    });
  }

  /** @throws ApiError rate_limited where an account has had more than those of a minute ahead */
  spend(accountId: string, timezone: string, events: number): void {
    const waitMs = this.#pace.waitOf(accountId);
    const last = this.#last.get(accountId);
    const isRetry = last?.timezone === timezone && this.#now() <= last.until;
    if (waitMs === 0) {
      this.#last.set(accountId, { timezone, until: this.#now() + WRITE_DEADLINE_SECONDS * 1000 });
    } else if (!isRetry) {
      throw rateLimited.error(
        'The time zone was changed too often for so many events, which are all counted anew each time.',
        { headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) } },
      );
    }
    this.#pace.count(accountId, events);
  }
}
