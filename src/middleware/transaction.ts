import type { Context, Middleware } from 'koa';
import compose from 'koa-compose';

import { ApiError, idempotencyConflict, validationError } from '../core/errors';
import { MAX_KEY_LENGTH } from '../core/http/request-limits';
import { isAccountGone } from '../core/identity';
import type { Act } from '../data/audit/entry';
import {
  fingerprintOf,
  type IdempotencyStore,
  type StoredResponse,
} from '../data/idempotency/idempotency';
import type { Transaction } from '../data/writing/transaction';
import type { WriteQueue } from '../data/writing/write-queue';
import type { Operation } from '../plugins/operation';
import { actingOf } from './access';
import { callerOf } from './state';
import { isDryRun } from './validate';

interface Dependencies {
  idempotency: IdempotencyStore;
  writeQueue: WriteQueue;
}

/**
 * Runs a write once for each Idempotency-Key (docs/api.md, "Retries"). The response is stored in the
 * transaction of the write; a 404 is stored too.
 */
export function idempotency(
  operation: Operation,
  { idempotency: store, writeQueue }: Dependencies,
): Middleware {
  return async function idempotency(ctx, next) {
    const { state } = ctx;
    // Node joins repeats.
    const sent = operation.idempotent ? ctx.headers['idempotency-key'] : undefined;
    const key = state.idempotencyKey ?? (sent as string | undefined);
    // A dry run has no effect, so it may be repeated.
    if (key === undefined || isDryRun(state.input)) {
      await next();
      return;
    }
    if (key.length === 0 || key.length > MAX_KEY_LENGTH) {
      throw validationError.error(
        `The header Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters.`,
      );
    }
    const { params, body } = state.input;
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
    const userId = targetAccount(operation, ctx);
    const request = { userId, key, fingerprint: fingerprintOf(operation.method, path, body) };
    state.request = request;
    const { response, replayed } = await store.runOnce(request, async () => {
      if (state.refuseWrite) throw state.refuseWrite;
      try {
        await next();
      } catch (error) {
        if (isMissing(error, operation)) {
          const missing: StoredResponse = { status: 404, body: JSON.stringify(error.body) };
          await writeQueue.run(userId, (tx) => store.store(tx, request, missing));
        }
        throw error;
      }
      return { status: ctx.status, body: ctx.body as string };
    });
    if (!replayed) return;
    if (operation.secret !== undefined && response.status < 400) throw shownOnce(response.body);
    ctx.set('Idempotent-Replayed', 'true');
    ctx.status = response.status;
    ctx.type = 'application/json';
    ctx.body = response.body;
    if (response.status < 400) return;
    // Stored in the Error shape.
    state.code = (JSON.parse(response.body) as ApiError['body']).code;
  };
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
    const acting = actingOf(ctx);
    const userId = targetAccount(operation, ctx);
    const work = async (shared: Transaction): Promise<void> => {
      const tx = shared.as(acting);
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
      throw missingTarget(operation, error);
    });
  };
  // Shown by `audit routes`.
  const value = `transaction(${steps.map(({ name }) => name).join(' ')})`;
  return Object.defineProperty(run, 'name', { value });
}

/** Whether a record in the path does not exist. Without its account the 404 cannot be stored. */
function isMissing(error: unknown, { account, params }: Operation): error is ApiError {
  const missing = account === undefined ? undefined : params?.[account];
  return error instanceof ApiError && error.status === 404 && error.kind !== missing;
}

/** A response without the secret that is shown once. */
function storable({ secret }: Operation, response: StoredResponse): StoredResponse {
  if (secret === undefined) return response;
  const shown = (name: string, value: unknown): unknown => (name === secret ? undefined : value);
  return { ...response, body: JSON.stringify(JSON.parse(response.body), shown) };
}

function shownOnce(body: string): ApiError {
  // Most secrets are part of a record.
  const { id } = JSON.parse(body) as { id?: string };
  const made =
    id === undefined
      ? 'a secret that is not shown again;'
      : `${id}, whose secret is not shown again; revoke it and`;
  return idempotencyConflict.error(
    `The first request with this Idempotency-Key made ${made} make another.`,
  );
}

/** The audit entry of an operation on the record in its path. */
function actOf(action: string, params: Readonly<Record<string, string>>): Act {
  const [type = ''] = action.split('.');
  return { action, target: { type, id: params['id'] ?? '' } };
}

/** The account that an operation writes to: that of its path, or else the caller's. */
function targetAccount({ account }: Operation, ctx: Context): string {
  const named = account === undefined ? undefined : ctx.state.input.params[account];
  return named ?? callerOf(ctx).account.id;
}

/** Turns the error for a missing account in the path into the operation's own. */
function missingTarget({ account, params }: Operation, error: unknown): unknown {
  const missing = account === undefined ? undefined : params?.[account];
  return missing !== undefined && isAccountGone(error) ? missing.error() : error;
}
