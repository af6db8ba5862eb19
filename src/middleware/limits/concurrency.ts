import type { Context, Middleware } from 'koa';
import pLimit, { type LimitFunction } from 'p-limit';

import { serviceUnavailable } from '../../core/errors';
import { enterAgain } from '../garden';
import { callerOf } from '../state';

/** How long a call may wait. */
const MAX_WAIT_MS = 10_000;

interface Limits {
  /** Calls of one account; each counts until its response is sent. */
  perAccount: number;
  /** Calls of all accounts; each counts until its response is ready. */
  total: number;
  /** If given, a call counts in `total` until its response is sent, which is cut short after this time. */
  maxSendMs?: number;
}

/**
 * Runs the work of a call of an account when there is room; the work learns whether it had to wait.
 *
 * @throws ApiError service_unavailable if the call waits too long
 */
export type ConcurrencyLimit = (
  ctx: Context,
  account: string,
  work: (hasWaited: boolean) => Promise<unknown>,
) => Promise<void>;

/**
 * Limits the concurrent calls of each account, so that no account can starve the others, and of all
 * accounts, so that probes stay fast. Other calls wait.
 */
export function concurrencyLimit({ perAccount, total, maxSendMs }: Limits): ConcurrencyLimit {
  const gates = new Map<string, LimitFunction>();
  const all = pLimit(total);
  return async ({ state, res }, account, work) => {
    const gate = gates.get(account) ?? pLimit(perAccount);
    gates.set(account, gate);
    let hasWaited = isFull(gate);
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
      void state.sent.then(giveUp);
      const run = async (): Promise<void> => {
        if (!isWaiting) return;
        isWaiting = false;
        clearTimeout(timer);
        await work(hasWaited).then(() => {
          resolve();
        }, reject);
        if (maxSendMs === undefined) return;
        const cut = setTimeout(() => res.destroy(), maxSendMs);
        await state.sent;
        clearTimeout(cut);
      };
      void gate(async () => {
        if (!isWaiting) return;
        hasWaited ||= isFull(all);
        await all(run);
        await state.sent;
      }).finally(() => {
        if (gate.activeCount + gate.pendingCount === 0) gates.delete(account);
      });
    });
  };
}

function isFull({ activeCount, pendingCount, concurrency: most }: LimitFunction): boolean {
  return activeCount + pendingCount >= most;
}

/**
 * Limits the concurrent calls of an operation, by caller: no member of a garden makes its owner wait. A membership
 * may end while its call waits.
 */
export function concurrency(
  limit: ConcurrencyLimit,
  operation: Parameters<typeof enterAgain>[0],
): Middleware {
  return function concurrency(ctx, next) {
    return limit(ctx, callerOf(ctx).account.id, async (hasWaited) => {
      if (hasWaited) await enterAgain(operation, ctx);
      await next();
    });
  };
}
