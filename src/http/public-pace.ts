import type { Context, Middleware } from 'koa';

import { ApiError, serviceUnavailable } from '../core/errors';
import { Pace } from '../core/pace';
import { Turns } from '../core/turns';
import { bytesToSend } from './answer';
import { clientBudget } from './client-address';
import { factsOf } from './request-facts';

/** What an address gets: 4 MB a second, ten times the page of documents, and 16 MB ahead. */
const DOCUMENTS = { perMinute: 60 * 4 * 1024 * 1024, burstMs: 4000, maxWaitMs: 3000 };
/** As how much the shortest answer counts, which costs more than its bytes. */
const MIN_BYTES = 20 * 1024;
/** How many probes it gets: a hundred a second. Whoever takes more must not make others look dead. */
const PROBES = { perMinute: 60 * 100, burstMs: 1000, maxWaitMs: 250 };

/**
 * When requests are answered that no account's budget limits (docs/decisions.md, "Rate limits"): one
 * of a kind in a turn of the event loop, so that those of accounts come between, and of one address
 * no more than it gets. Who takes more waits; where no wait is long enough, it is 503.
 */
export class PublicPace {
  readonly #turns = new Turns(1);
  readonly #documents = new Pace(DOCUMENTS);
  readonly #probes = new Pace(PROBES);
  /** How long the longest answer of a kind was: as much counts before the next one is made. */
  readonly #longest = new Map<string, number>();

  /**
   * Has a request answered as soon as another document may be sent, or another probe answered.
   *
   * @param kind of requests that take turns
   * @throws ApiError service_unavailable when its client is gone, or takes too much
   */
  async run(kind: string, ctx: Context, answer: () => Promise<void>): Promise<void> {
    if (factsOf(ctx).isProbe) {
      await this.#take(this.#probes, ctx, 1);
      await this.#turns.next(kind);
      await answer();
      return;
    }
    // Later turns know how long the answers of earlier ones were.
    await this.#turns.next(kind);
    const expected = this.#longest.get(kind) ?? MIN_BYTES;
    const hasRoom = this.#documents.hasRoom(clientBudget(ctx), expected);
    await this.#take(this.#documents, ctx, hasRoom ? expected : 0);
    if (!hasRoom)
      throw serviceUnavailable.error('Too much is asked for from this address at once.');
    let bytes = MIN_BYTES;
    try {
      await answer();
      bytes = Math.max(bytesToSend(ctx) ?? 0, MIN_BYTES);
      this.#longest.set(kind, Math.max(bytes, this.#longest.get(kind) ?? 0));
    } finally {
      this.#documents.count(clientBudget(ctx), bytes - expected);
    }
  }

  /** Has refusals wait that no account's budget pays for, and what asks what it may ask for. */
  readonly slowRefusals: Middleware = async (ctx, next) => {
    try {
      if (ctx.method === 'OPTIONS') await this.#take(this.#documents, ctx, MIN_BYTES);
      await next();
    } catch (error) {
      const isRefusal = error instanceof ApiError && error.status < 429;
      if (isRefusal && !factsOf(ctx).principal) {
        await this.#take(this.#documents, ctx, MIN_BYTES);
        await this.#turns.next('refusal');
      }
      throw error;
    }
  };

  async #take(pace: Pace, ctx: Context, amount: number): Promise<void> {
    const address = clientBudget(ctx);
    pace.count(address, amount);
    await pace.wait(address, factsOf(ctx).sent);
  }
}
