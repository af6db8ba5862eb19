import type { Context } from 'koa';

import { Pace } from '../core/pace';
import { Turns } from '../core/turns';
import { addressBudget } from './client-address';
import { factsOf } from './request-facts';

/** What an address gets: 4 MB a second, ten times the page of documents, and 16 MB ahead. */
const DOCUMENTS = { perMinute: 60 * 4 * 1024 * 1024, burstMs: 4000, maxWaitMs: 3000 };
/** As how much the shortest answer counts, which costs more than its bytes. */
const MIN_BYTES = 20 * 1024;
/** How many probes it gets: a hundred a second. Whoever takes more must not make others look dead. */
const PROBES = { perMinute: 60 * 100, burstMs: 1000, maxWaitMs: 250 };

/**
 * When requests begin that no account's budget limits (docs/decisions.md, "Rate limits"): one of a
 * kind in a turn of the event loop, so that those of accounts come between, and of one address no
 * more than it gets.
 */
export class PublicPace {
  readonly #turns = new Turns(1);
  readonly #documents = new Pace(DOCUMENTS);
  readonly #probes = new Pace(PROBES);

  /**
   * Waits until another request may begin.
   *
   * @param kind of requests that take turns
   * @throws ApiError service_unavailable when its client is gone
   */
  async begin(kind: string, ctx: Context): Promise<void> {
    const { isProbe = false, sent } = factsOf(ctx);
    const address = addressBudget(ctx.ip);
    const pace = isProbe ? this.#probes : this.#documents;
    await pace.wait(address, sent);
    pace.count(address, isProbe ? 1 : MIN_BYTES);
    await this.#turns.next(kind);
  }

  /** Counts the answer, once it is made. */
  end(ctx: Context): void {
    const bytes = ctx.length - MIN_BYTES;
    if (bytes > 0 && !factsOf(ctx).isProbe) {
      this.#documents.count(addressBudget(ctx.ip), bytes);
    }
  }
}
