import { BoundedMap } from '../../src/core/bounded-map';
import { rateLimited } from '../../src/core/errors';
import { WRITE_DEADLINE_SECONDS } from '../../src/core/host-settings';
import { Pace } from '../../src/core/pace';

/** How many events of an account are counted anew in a minute, in the long run. */
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
  readonly #pace = new Pace({
    perMinute: EVENTS_PER_MINUTE,
    burstMs: BURST_MS,
    maxWaitMs: MAX_WAIT_MS,
    now: () => Date.now(),
  });
  /** Up to when a count may be that of the same write, tried again. */
  readonly #retriedUntil = new BoundedMap<string, number>(MAX_ACCOUNTS);

  /** @throws ApiError rate_limited where an account has had more than those of a minute ahead */
  spend(accountId: string, events: number): void {
    const waitMs = this.#pace.waitOf(accountId);
    if (waitMs === 0) {
      this.#retriedUntil.set(accountId, Date.now() + WRITE_DEADLINE_SECONDS * 1000);
    } else if (Date.now() > (this.#retriedUntil.get(accountId) ?? 0)) {
      throw rateLimited.error(
        'The time zone was changed too often for so many events, which are all counted anew each time.',
        { headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) } },
      );
    }
    this.#pace.count(accountId, events);
  }
}
