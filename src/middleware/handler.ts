import { Readable } from 'node:stream';

import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';

import { Content, TextStream } from '../core/http/content';
import type { HeldToken } from '../core/identity';
import { ownOrigin, publicOriginOf } from '../core/settings/public-origin';
import type { Settings } from '../core/settings/settings';
import { jsonArray, jsonText } from '../core/text/json';
import { isAsyncIterable } from '../core/values';
import type { ReadCall } from '../plugins/call';
import type { Operation } from '../plugins/operation';
import { operationName } from '../plugins/operation-facts';
import { actingOf } from './authenticate';
import { whileInactive } from './inactivity';
import { pageOfRead } from './pages';
import { revisionEtag } from './response-cache';
import { callerOf, ownerOf, type PageInput } from './state';
import { isDryRun } from './validate';
import { toClientError } from './client-error';
import type { IdempotencyStore } from '../data/idempotency/idempotency';
import type { WriteQueue } from '../data/writing/write-queue';

/** Runs the handler of a read. Leaves a response that can be cached, or a stream. */
export function readHandler(operation: Operation): Middleware {
  const { status } = operation.response;
  const isKept = operation.notConditional === undefined;
  return async function handler(ctx) {
    const { state } = ctx;
    const call = readCallOf(ctx);
    const { page } = state.input;
    const whole = await operation.handler(call);
    const value = page ? await pageOf(whole, page, call) : whole;
    ctx.status = status;
    ctx.type = 'application/json';
    if (!isAsyncIterable(value) && !(value instanceof TextStream)) {
      state.content = new Content(await jsonText(value));
      return;
    }
    const { responseKey, validUntil = Infinity } = state;
    if (responseKey && validUntil === Infinity) state.etag = revisionEtag(responseKey);
    if (state.etag !== undefined && state.isKnown?.(state.etag)) {
      ctx.status = 304;
      return;
    }
    const text =
      value instanceof TextStream ? value : new TextStream('application/json', jsonArray(value));
    ctx.type = text.type;
    const made = await whileInactive(ctx.req, () => streamed(text.pieces, state.log));
    if (typeof made === 'string' && isKept) state.content = new Content(made, text.type);
    else ctx.body = Readable.from(typeof made === 'string' ? [made] : made, { objectMode: false });
  };

  function pageOf(
    value: unknown,
    page: PageInput,
    call: ReadCall<unknown, string>,
  ): Promise<object> {
    const { itemKey = ['id'] } = operation.response;
    const query = call.query as Readonly<Record<string, unknown>>; // Joi returns an object.
    const { sort } = query;
    return pageOfRead(value, page, {
      list: [call.account.id, operationName(operation), call.params, query],
      itemKey: typeof sort === 'string' ? [...itemKey, sort] : itemKey,
      readPage: (limit) => operation.handler({ ...call, query: { ...query, limit } }),
    });
  }
}

/** Runs the handler of a write in its transaction. */
export function writeHandler(
  operation: Operation,
  { settings }: { settings: Settings },
): Middleware {
  return async function handler(ctx) {
    const value = await operation.handler(writeCallOf(ctx, settings));
    ctx.status = isDryRun(ctx.state.input) ? 200 : operation.response.status;
    ctx.type = 'application/json';
    ctx.body = await jsonText(value);
  };
}

/** Runs the handler of an operation in no transaction; its response is stored for retries afterwards. */
export function outsideHandler(
  operation: Operation,
  { idempotency, writeQueue }: { idempotency: IdempotencyStore; writeQueue: WriteQueue },
): Middleware {
  return async function handler(ctx) {
    const { status } = operation.response;
    ctx.status = status;
    const made = (): void => {
      ctx.status = 201;
    };
    const value = await operation.handler({ ...readCallOf(ctx), made });
    ctx.type = 'application/json';
    const body = await jsonText(value);
    ctx.body = body;
    const { request } = ctx.state;
    if (!request) return;
    await writeQueue.run(request.userId, (tx) => idempotency.store(tx, request, { status, body }));
  };
}

/** What the handler of a read gets; within a write, it reads in that transaction. */
export function readCallOf(ctx: Context): ReadCall<unknown, string> {
  const { state } = ctx;
  const { input, tx } = state;
  const account = ownerOf(ctx);
  return {
    ...input,
    account: tx?.account ?? account,
    caller: callerOf(ctx).account,
    token: tokenOf(ctx),
    acting: actingOf(ctx),
    tenant: tx ?? { userId: account.id },
    now: tx?.now ?? new Date(),
    validUntil: (moment) => {
      state.validUntil = Math.min(state.validUntil ?? Infinity, moment.getTime());
    },
  };
}

/** The token, with the scopes that it has in the garden of the call. */
function tokenOf(ctx: Context): HeldToken {
  const { token } = callerOf(ctx);
  const { garden } = ctx.state;
  if (!garden) return token;
  return { ...token, scopes: token.scopes.filter((scope) => garden.scopes.has(scope)) };
}

/** What the handler of a write gets. */
function writeCallOf(ctx: Context, settings: Settings) {
  const { input, tx, within } = ctx.state;
  if (!tx) throw new Error(`The chain of ${ctx.path} has no transaction.`);
  const origin = (): string => publicOriginOf(settings, ctx.req) ?? ownOrigin(settings);
  return { ...input, tx, token: tokenOf(ctx), now: tx.now, within, origin };
}

/** Shorter responses are not streamed. In UTF-16 code units. */
const MAX_WHOLE = 256 * 1024;

/**
 * Returns a short text as a string, and a long one as an iterable that makes its pieces on demand. An
 * early failure is thrown; a later one can only cut the response short.
 */
async function streamed(
  pieces: AsyncGenerator<string>,
  log: Logger,
): Promise<string | AsyncIterable<string>> {
  let begun = '';
  while (begun.length < MAX_WHOLE) {
    const piece = await pieces.next();
    if (piece.done === true) return begun;
    begun += piece.value;
  }
  return rest(begun, pieces, log);
}

/** Not a generator, whose `return` does not close its source unless it was started. */
function rest(begun: string, pieces: AsyncGenerator<string>, log: Logger): AsyncIterable<string> {
  let first: string | undefined = begun;
  const next = async (): Promise<IteratorResult<string>> => {
    const value = first;
    first = undefined;
    if (value !== undefined) return { value, done: false };
    try {
      return await pieces.next();
    } catch (error) {
      throw toClientError(error, log);
    }
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: () => pieces.return(undefined) }) };
}
