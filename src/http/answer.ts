import { Readable } from 'node:stream';

import type { Context } from 'koa';

import { etagOf } from '../core/content';
import type { Operation } from '../plugins/operation';
import { hasEtag, isPrivateRead } from '../plugins/operation-facts';
import { codingFor, sendContent, setEtag } from '../plugins/send-content';
import type { CallResult } from '../plugins/transport';

/** Writes what an operation answered into the response (docs/decisions.md, "Conditional requests"). */
export async function answer(
  ctx: Context,
  operation: Operation,
  outcome: CallResult,
): Promise<void> {
  const { status, type = 'application/json' } = operation.response;
  if ('value' in outcome || 'json' in outcome) {
    ctx.status = 'status' in outcome ? outcome.status : status;
    ctx.type = type;
    if ('json' in outcome) {
      if (outcome.replayed) ctx.set('Idempotent-Replayed', 'true');
      ctx.body = outcome.json;
    } else {
      ctx.body = operation.response.type ? outcome.value : JSON.stringify(outcome.value);
    }
    if (hasEtag(operation) && ctx.status < 300) ctx.set('ETag', etagOf(String(ctx.body)));
    // What a token reads is nobody else's, and this is another answer the next time.
    if (isPrivateRead(operation)) {
      ctx.set('Cache-Control', 'private, no-store');
      ctx.vary('Authorization');
    }
    return;
  }
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.vary('Authorization');
  ctx.status = status;
  if ('content' in outcome) {
    await sendContent(ctx, outcome.content, type);
  } else if ('unchanged' in outcome) {
    setEtag(ctx, outcome.unchanged, codingFor(ctx, Infinity));
    ctx.status = 304;
  } else {
    if (outcome.etag !== undefined) ctx.set('ETag', outcome.etag);
    ctx.type = type;
    ctx.body = Readable.from(outcome.pieces, { objectMode: false });
  }
}

/** How many bytes of an answer are to be sent; undefined where it is made while it is sent. */
export function bytesToSend({ method, body, length }: Context): number | undefined {
  if (body instanceof Readable) return undefined;
  // A length is there only where there is a body, whatever its type says.
  return method === 'HEAD' || body === null || body === undefined ? 0 : length;
}
