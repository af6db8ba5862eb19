import { Readable } from 'node:stream';

import type { Context, Middleware } from 'koa';

import { etagOf, namesEtag } from '../core/http/content';
import { preconditionFailed } from '../core/errors';
import type { Handler, Operation } from '../plugins/operation';
import { codingFor, sendContent, setEtag } from '../plugins/send-content';
import { readCallOf } from './handler';

/**
 * Names each response of a read by an entity tag, and answers 304 where the client has it
 * (docs/api.md, "Conditional requests").
 */
export function conditional({ response: { type = 'application/json' } }: Operation): Middleware {
  return async function conditional(ctx, next) {
    const known = ctx.get('If-None-Match');
    // Whatever response there is, `*` means it, and its own tag is known only once it is made.
    ctx.state.isKnown = (etag) => known.trim() !== '*' && namesEtag(known, etag);
    await next();
    ctx.set('Cache-Control', 'private, no-cache');
    ctx.vary('Authorization');
    const { content, etag } = ctx.state;
    if (content) await sendContent(ctx, content, content.type ?? type);
    else if (etag !== undefined && ctx.status === 304) setEtag(ctx, etag, codingFor(ctx, Infinity));
    else if (etag !== undefined) ctx.set('ETag', etag);
  };
}

/** Marks responses that are another one the next time, and nobody else's. */
export const noStore: Middleware = async function noStore(ctx, next) {
  await next();
  ctx.set('Cache-Control', 'private, no-store');
  ctx.vary('Authorization');
  if (ctx.state.content) ctx.body = ctx.state.content.body;
};

/** Names the record that a write answers with by an entity tag. */
export const etag: Middleware = async function etag(ctx, next) {
  await next();
  if (ctx.status < 300) ctx.set('ETag', etagOf(String(ctx.body)));
};

/**
 * Within the transaction of a write: refuses it with precondition_failed where If-Match names another
 * state of the record than there is.
 */
export function ifMatch(readState: Handler): Middleware {
  return async function ifMatch(ctx, next) {
    const expected = ctx.headers['if-match'];
    if (expected !== undefined) {
      const call = { ...readCallOf(ctx), tx: ctx.state.tx };
      // As for any handler: this operation's own plugin has made it.
      const state = JSON.stringify(await readState(call as never));
      if (!namesEtag(expected, etagOf(state))) throw preconditionFailed.error();
    }
    await next();
  };
}

/** How many bytes of a response are to be sent; undefined where it is made while it is sent. */
export function bytesToSend({ method, body, length }: Context): number | undefined {
  if (body instanceof Readable) return undefined;
  // A length is there only where there is a body, whatever its type says.
  return method === 'HEAD' || body === null || body === undefined ? 0 : length;
}
