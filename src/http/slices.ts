import { Readable } from 'node:stream';

import type { Middleware } from 'koa';

import { Turns } from '../core/turns';

/** How much of an answer is given to its connection at once. */
const SLICE_BYTES = 64 * 1024;
/** Turns of the event loop, each for two slices of all answers. */
const turns = new Turns(2);

/**
 * Sends large bodies slice by slice: a connection, and TLS, which copies what it encrypts, holds
 * one slice of what its client has not taken yet. They take turns, or the megabytes that connections
 * take at once would keep all others waiting.
 */
export const sliceLargeBodies: Middleware = async (ctx, next) => {
  await next();
  const body: unknown = ctx.body;
  const { length } = ctx;
  if (!(length > SLICE_BYTES && (typeof body === 'string' || Buffer.isBuffer(body)))) return;
  ctx.body = sliced(typeof body === 'string' ? Buffer.from(body) : body);
  // Koa takes the length away from whatever becomes a stream.
  ctx.length = length;
};

function sliced(content: Buffer): Readable {
  let at = 0;
  return new Readable({
    highWaterMark: SLICE_BYTES,
    read() {
      void turns.next('').then(() => {
        this.push(at < content.length ? content.subarray(at, at + SLICE_BYTES) : null);
        at += SLICE_BYTES;
      });
    },
  });
}
