import type { Context, Middleware } from 'koa';
import compose from 'koa-compose';

import { isAccountGone } from '../core/identity';
import type { Act } from '../data/audit/entry';
import type { IdempotencyStore, StoredResponse } from '../data/idempotency/idempotency';
import type { Transaction } from '../data/writing/transaction';
import type { WriteQueue } from '../data/writing/write-queue';
import type { Operation } from '../plugins/operation';
import { secretsOf } from '../plugins/operation-facts';
import { actingOf } from './authenticate';
import { closed, enterAgain } from './garden';
import { targetAccount } from './idempotency';
import { isDryRun } from './validate';

interface Dependencies {
  idempotency: IdempotencyStore;
  writeQueue: WriteQueue;
}

/**
 * Runs the remaining steps in one transaction, with the audit entry and the stored response. They run
 * again if the transaction is retried.
 */
export function transaction(
  operation: Operation,
  { idempotency: store, writeQueue }: Dependencies,
  steps: Middleware[],
): Middleware {
  const { audit } = operation;
  // It takes long, and writes in the same transaction would wait for it.
  const isAlone = operation.large !== undefined;
  const inner = compose(steps);
  const run: Middleware = async (ctx) => {
    const { state } = ctx;
    const userId = targetAccount(operation, ctx);
    const work = async (shared: Transaction): Promise<void> => {
      await enterAgain(operation, ctx, shared.session);
      const tx = shared.as(actingOf(ctx));
      state.tx = tx;
      await inner(ctx, async () => undefined);
      if (audit !== undefined) tx.audit(actOf(audit, state.input.params));
      if (state.request) {
        const response = { status: ctx.status, body: ctx.body as string };
        await store.store(tx, state.request, storable(operation, response));
      }
    };
    const write = isDryRun(state.input)
      ? writeQueue.dryRun(userId, work)
      : writeQueue.run(userId, work, { isAlone });
    await write.catch((error: unknown) => {
      throw missingTarget(operation, ctx, error);
    });
  };
  // Shown by `audit routes`.
  const value = `transaction(${steps.map(({ name }) => name).join(' ')})`;
  return Object.defineProperty(run, 'name', { value });
}

/** A response without the secret that is shown once. */
function storable(operation: Operation, response: StoredResponse): StoredResponse {
  const secrets = secretsOf(operation);
  if (secrets.length === 0) return response;
  const shown = (name: string, value: unknown): unknown =>
    secrets.includes(name) && value !== null ? undefined : value;
  return { ...response, body: JSON.stringify(JSON.parse(response.body), shown) };
}

/** The audit entry of an operation on the record in its path. */
function actOf(action: string, params: Readonly<Record<string, string>>): Act {
  const [type = ''] = action.split('.');
  return { action, target: { type, id: params['id'] ?? '' } };
}

/** Turns the error for a missing account that is not the caller's into one about that account. */
function missingTarget({ account, params }: Operation, ctx: Context, error: unknown): unknown {
  if (!isAccountGone(error)) return error;
  const ofPath = account === undefined ? undefined : params?.[account];
  return ofPath?.error() ?? (ctx.state.garden ? closed(ctx) : error);
}
