import type { Middleware } from 'koa';
import pLimit, { type LimitFunction } from 'p-limit';

import { serviceUnavailable } from '../core/errors';
import { callerOf } from './state';

/** How long a call waits before its caller is asked to come back. */
const MAX_WAIT_MS = 10_000;

/**
 * Works on so many calls of an account at once, so that no account keeps the others waiting: a call
 * holds its place until its response was sent. The rest wait, and are answered service_unavailable
 * where that takes too long. Of all accounts so many are worked on until their responses are made, or
 * thousands that come at once would take turns, and a probe its turn after all of them.
 */
export function concurrency({
  perAccount,
  total,
}: {
  perAccount: number;
  total: number;
}): Middleware {
  const gates = new Map<string, LimitFunction>();
  const all = pLimit(total);
  return async function concurrency(ctx, next) {
    const { id } = callerOf(ctx).account;
    const gate = gates.get(id) ?? pLimit(perAccount);
    gates.set(id, gate);
    await new Promise<void>((resolve, reject) => {
      let isWaiting = true;
      // One that has begun is done, whether its client waits for it or not.
      const giveUp = (): void => {
        if (!isWaiting) return;
        isWaiting = false;
        clearTimeout(timer);
        reject(serviceUnavailable.error('Other calls took too long; this one was not made.'));
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
