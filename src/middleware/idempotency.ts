import type { Context, Middleware } from 'koa';

import { ApiError, gardenNotFound, idempotencyConflict, validationError } from '../core/errors';
import { MAX_KEY_LENGTH } from '../core/http/request-limits';
import {
  fingerprintOf,
  type IdempotencyStore,
  type StoredResponse,
} from '../data/idempotency/idempotency';
import { isDuplicateKey } from '../data/mongodb/errors';
import type { WriteQueue } from '../data/writing/write-queue';
import type { Operation } from '../plugins/operation';
import { secretsOf } from '../plugins/operation-facts';
import { enterAgain } from './garden';
import { ownerOf } from './state';
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
    const key = state.given?.key ?? (ctx.headers['idempotency-key'] as string | undefined);
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
    const fingerprint = fingerprintOf(operation.method, path, body);
    const request = { userId, key: ownKey(ctx, key), fingerprint };
    state.request = request;
    const { response, replayed } = await store.runOnce(request, async () => {
      try {
        await next();
      } catch (error) {
        if (isMissing(error, operation)) {
          const missing: StoredResponse = { status: 404, body: JSON.stringify(error.body) };
          const stored = writeQueue.run(userId, (tx) => store.store(tx, request, missing));
          await stored.catch((failure: unknown) => {
            // Another process was first, and its response is sent.
            if (isDuplicateKey(failure)) throw failure;
            state.log.warn({ err: failure }, 'A 404 was not stored for its retries');
          });
        }
        throw error;
      }
      return { status: ctx.status, body: ctx.body as string };
    });
    if (!replayed) return;
    await enterAgain(operation, ctx);
    const secrets = secretsOf(operation);
    if (secrets.length > 0 && response.status < 400) requireWhole(response.body, secrets);
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
 * Each person who may act in a garden has keys of their own there, and for each garden those for what is
 * their own; no header contains a line break.
 */
function ownKey({ state: { garden, within } }: Context, key: string): string {
  const apart = garden?.by.id ?? within?.account.id;
  return apart === undefined ? key : `${apart}\n${key}`;
}

/** Whether a record in the path does not exist. Without its account the 404 cannot be stored. */
function isMissing(error: unknown, { account, params }: Operation): error is ApiError {
  const missing = account === undefined ? undefined : params?.[account];
  if (!(error instanceof ApiError) || error.status !== 404) return false;
  return error.kind !== missing && error.kind !== gardenNotFound;
}

/** @throws ApiError idempotency_conflict if the stored body lacks the secret, which is shown once */
function requireWhole(body: string, secrets: readonly string[]): void {
  const stored = JSON.parse(body) as Record<string, unknown> & { id?: string };
  if (secrets.some((secret) => secret in stored)) return;
  // Most secrets are part of a record.
  const { id } = stored;
  const made =
    id === undefined
      ? 'a secret that is not shown again;'
      : `${id}, whose secret is not shown again; revoke it and`;
  throw idempotencyConflict.error(
    `The first request with this Idempotency-Key made ${made} make another.`,
  );
}

/** The account that an operation writes to: that of its path, or else that of the garden. */
export function targetAccount({ account }: Operation, ctx: Context): string {
  const named = account === undefined ? undefined : ctx.state.input.params[account];
  return named ?? ownerOf(ctx).id;
}
