import { BoundedMap } from '../../src/core/bounded-map';
import { rateLimited } from '../../src/core/errors';
import { WRITE_DEADLINE_SECONDS } from '../../src/core/host-settings';

/** How many events of an account are counted anew in a minute, in the long run. */
const EVENTS_PER_MINUTE = 1_000_000;
const MINUTE_MS = 60_000;
/** Of more accounts than change their zone at once, those that began first are forgotten. */
const MAX_ACCOUNTS = 10_000;

/** What an account has had, in moments. */
interface Taken {
  /** Up to when its counts last. */
  until: number;
  /** Up to when a count may be that of the same write, tried again. */
  retriedUntil: number;
}

/**
 * How often all events of an account are counted anew: each time costs some seconds of processor
 * time for a million of them, however cheap the call is that asks for it.
 */
export class RecountPace {
  readonly #taken = new BoundedMap<string, Taken>(MAX_ACCOUNTS);

  /** @throws ApiError rate_limited where an account has had more than those of a minute ahead */
  spend(accountId: string, events: number): void {
    const now = Date.now();
    const { until, retriedUntil } = this.#taken.get(accountId) ?? { until: now, retriedUntil: 0 };
    const waitMs = until - now - MINUTE_MS;
    if (waitMs > 0 && now > retriedUntil) {
      throw rateLimited.error(
        'The time zone was changed too often for so many events, which are all counted anew each time.',
        { headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) } },
      );
    }
    this.#taken.set(accountId, {
      until: Math.max(now, until) + (events / EVENTS_PER_MINUTE) * MINUTE_MS,
      retriedUntil: waitMs > 0 ? retriedUntil : now + WRITE_DEADLINE_SECONDS * 1000,
    });
  }
}
