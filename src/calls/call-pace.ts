import { Pace } from '../core/pace';
import { Turns } from '../core/turns';

/** How many calls a minute an account may begin for each read of its budget. */
const CALLS_PER_READ = 12;
/** For how long it may begin calls at once: by default 240. */
const BURST_MS = 1000;
/** How long a call waits at most. */
const MAX_WAIT_MS = 3000;
/** How many of them begin in one turn of the event loop: those of other accounts come between. */
const CALLS_PER_TURN = 4;
/** How much of a body costs as much as another call. */
const BODY_BYTES_PER_CALL = 8 * 1024;

/** How fast an account's calls begin: it must not spend the budget of a minute within a second. */
export class CallPace {
  readonly #turns = new Turns(CALLS_PER_TURN);
  readonly #pace: Pace;

  /** @param readsPerMinute the budget of each account */
  constructor(readsPerMinute: number) {
    this.#pace = new Pace({
      perMinute: readsPerMinute * CALLS_PER_READ,
      burstMs: BURST_MS,
      maxWaitMs: MAX_WAIT_MS,
    });
  }

  /**
   * Waits until the account may begin another call.
   *
   * @param sent fulfilled when the caller is gone, which ends the wait
   * @throws ApiError service_unavailable then
   */
  async begin(accountId: string, sent: Promise<unknown>): Promise<void> {
    this.#pace.count(accountId, 1);
    await this.#pace.wait(accountId, sent);
    await this.#turns.next(accountId);
  }

  /** Counts the body of a call, which costs as much as so many more. */
  countBody(accountId: string, bytes: number): void {
    this.#pace.count(accountId, bytes / BODY_BYTES_PER_CALL);
  }
}
