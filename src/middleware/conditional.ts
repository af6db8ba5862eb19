import type { Middleware } from 'koa';

import {
  etagOf,
  namesEtag,
  namesUpdate,
  codingFor,
  sendContent,
  setEtag,
} from '../core/http/content';
import { preconditionFailed } from '../core/errors';
import type { Operation } from '../plugins/operation';
import { readCallOf } from './handler';

/** The headers that say whose data a response has. */
const WHOSE = ['Authorization', 'Garden'];

/**
 * Adds an ETag to each response of a read, and responds with 304 if the client has that version
 * (docs/api.md, "Conditional requests").
 */
export const conditional: Middleware = async function conditional(ctx, next) {
  const known = ctx.get('If-None-Match');
  // `*` matches any response, whose own tag is only known once it is made.
  ctx.state.isKnown = (etag) => known.trim() !== '*' && namesEtag(known, etag);
  await next();
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.vary(WHOSE);
  const { content, etag } = ctx.state;
  if (content) await sendContent(ctx, content);
  else if (etag !== undefined && ctx.status === 304) setEtag(ctx, etag, codingFor(ctx, Infinity));
  else if (etag !== undefined) ctx.set('ETag', etag);
};

/** Forbids caching of responses that differ each time. */
export const noStore: Middleware = async function noStore(ctx, next) {
  await next();
  ctx.set('Cache-Control', 'private, no-store');
  ctx.vary(WHOSE);
  if (ctx.state.content) ctx.body = ctx.state.content.body;
};

/** Adds the ETag of the record that a write responds with. */
export const etag: Middleware = async function etag(ctx, next) {
  await next();
  if (ctx.status < 300) ctx.set('ETag', etagOf(String(ctx.body)));
};

/**
 * Compares If-Match with the current record, in the transaction of the write.
 *
 * @throws ApiError precondition_failed if the record has another state
 */
export function ifMatch(operation: Operation): Middleware {
  return async function ifMatch(ctx, next) {
    const expected = ctx.headers['if-match'];
    if (expected !== undefined) {
      const call = { ...readCallOf(ctx), tx: ctx.state.tx };
      const state = await operation.state?.(call);
      const isNamed =
        namesEtag(expected, etagOf(JSON.stringify(state))) || namesUpdate(expected, state);
      if (!isNamed) throw preconditionFailed.error();
    }
    await next();
  };
}
