import type { Context, Middleware } from 'koa';
import compose from 'koa-compose';

import { isAccountGone } from '../core/identity';
import type { Act } from '../data/audit/entry';
import type { Transaction } from '../data/writing/transaction';
import type { WriteQueue } from '../data/writing/write-queue';
import type { Operation } from '../plugins/operation';
import { actingOf } from './access';
import { callerOf } from './state';
import { isDryRun } from './validate';

interface Dependencies {
  writeQueue: WriteQueue;
}

/**
 * Runs the remaining steps in one transaction, with the audit entry and the stored response. They run
 * again if the transaction is retried.
 */
export function transaction(
  operation: Operation,
  { writeQueue }: Dependencies,
  steps: Middleware[],
): Middleware {
  const { audit } = operation;
  // It takes long, and writes in the same transaction would wait for it.
  const isAlone = operation.large !== undefined;
  const inner = compose(steps);
  const run: Middleware = async (ctx) => {
    const { state } = ctx;
    const acting = actingOf(ctx);
    const userId = targetAccount(operation, ctx);
    const work = async (shared: Transaction): Promise<void> => {
      const tx = shared.as(acting);
      state.tx = tx;
      await inner(ctx, async () => undefined);
      if (audit !== undefined) tx.audit(actOf(audit, state.input.params));
      await state.store?.(tx, { status: ctx.status, body: ctx.body as string });
    };
    const write = isDryRun(state.input)
      ? writeQueue.dryRun(userId, work)
      : writeQueue.run(userId, work, { isAlone });
    await write.catch((error: unknown) => {
      throw missingTarget(operation, error);
    });
  };
  // Shown by `audit routes`.
  const value = `transaction(${steps.map(({ name }) => name).join(' ')})`;
  return Object.defineProperty(run, 'name', { value });
}

/** The audit entry of an operation on the record in its path. */
function actOf(action: string, params: Readonly<Record<string, string>>): Act {
  const [type = ''] = action.split('.');
  return { action, target: { type, id: params['id'] ?? '' } };
}

/** The account that an operation writes to: that of its path, or else the caller's. */
export function targetAccount({ account }: Operation, ctx: Context): string {
  const named = account === undefined ? undefined : ctx.state.input.params[account];
  return named ?? callerOf(ctx).account.id;
}

/** Turns the error for a missing account in the path into the operation's own. */
function missingTarget({ account, params }: Operation, error: unknown): unknown {
  const missing = account === undefined ? undefined : params?.[account];
  return missing !== undefined && isAccountGone(error) ? missing.error() : error;
}
