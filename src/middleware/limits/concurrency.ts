import type { Middleware } from 'koa';
import pLimit, { type LimitFunction } from 'p-limit';

import { serviceUnavailable } from '../../core/errors';
import { callerOf } from '../state';

/** How long a call may wait. */
const MAX_WAIT_MS = 10_000;

interface Limits {
  /** Calls of one account; each counts until its response is sent. */
  perAccount: number;
  /** Calls of all accounts; each counts until its response is ready. */
  total: number;
}

/**
 * Limits the concurrent calls of each account, so that no account can starve the others, and of all
 * accounts, so that probes stay fast. Other calls wait.
 *
 * @throws ApiError service_unavailable if a call waits too long
 */
export function concurrency({ perAccount, total }: Limits): Middleware {
  const gates = new Map<string, LimitFunction>();
  const all = pLimit(total);
  return async function concurrency(ctx, next) {
    const { id } = callerOf(ctx).account;
    const gate = gates.get(id) ?? pLimit(perAccount);
    gates.set(id, gate);
    await new Promise<void>((resolve, reject) => {
      let isWaiting = true;
      // A call that has started is finished, even if its client is gone.
      const giveUp = (): void => {
        if (!isWaiting) return;
        isWaiting = false;
        clearTimeout(timer);
        reject(
          serviceUnavailable.error('Too many concurrent calls; this one timed out before it ran.'),
        );
      };
      const timer = setTimeout(giveUp, MAX_WAIT_MS);
      void ctx.state.sent.then(giveUp);
      void gate(async () => {
        if (!isWaiting) return;
        isWaiting = false;
        clearTimeout(timer);
        await all(next).then(resolve, reject);
        await ctx.state.sent;
      }).finally(() => {
        if (gate.activeCount + gate.pendingCount === 0) gates.delete(id);
      });
    });
  };
}
