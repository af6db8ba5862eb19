import type { Middleware } from 'koa';
import compose from 'koa-compose';

import type { Act } from '../data/audit/entry';
import type { Transaction } from '../data/writing/transaction';
import type { WriteQueue } from '../data/writing/write-queue';
import type { Operation } from '../plugins/operation';
import { actingOf } from './authenticate';
import { missingTarget, targetAccount } from './input/target-account';
import { isDryRun } from './validate';

interface Dependencies {
  writeQueue: WriteQueue;
}

/**
 * Runs the steps behind it in one transaction: what they write, the act in the audit log and the
 * stored response are there together or not at all. They run again where it has to be retried.
 */
export function transaction(
  operation: Operation,
  { writeQueue }: Dependencies,
  steps: Middleware[],
): Middleware {
  const { audit } = operation;
  // It takes long, and others that shared its transaction would wait for it.
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
  // What `audit routes` shows.
  const value = `transaction(${steps.map(({ name }) => name).join(' ')})`;
  return Object.defineProperty(run, 'name', { value });
}

/** The act of an operation on the record that its path names. */
function actOf(action: string, params: Readonly<Record<string, string>>): Act {
  const [type = ''] = action.split('.');
  return { action, target: { type, id: params['id'] ?? '' } };
}
