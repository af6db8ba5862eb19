import { pipeline, Readable } from 'node:stream';
import { createBrotliCompress, createGzip } from 'node:zlib';

import type { Middleware } from 'koa';

import { BROTLI_OPTIONS, type Coding, compress } from '../core/http/content';
import { codingFor, setEtag } from '../plugins/send-content';

/** Compresses what is long enough for clients that take it, and is not compressed already. */
export const compression: Middleware = async (ctx, next) => {
  await next();
  const body: unknown = ctx.body;
  const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
  if (!isWhole && !(body instanceof Readable)) return;
  if (ctx.res.hasHeader('Content-Encoding')) return;
  ctx.vary('Accept-Encoding');
  const coding = codingFor(ctx, isWhole ? ctx.length : Infinity);
  if (coding === undefined) return;
  if (ctx.res.hasHeader('ETag')) setEtag(ctx, ctx.response.get('ETag'), coding);
  ctx.set('Content-Encoding', coding);
  ctx.body = isWhole ? await compress(Buffer.from(body), coding) : compressedStream(body, coding);
};

function compressedStream(body: Readable, coding: Coding): Readable {
  const compressor = coding === 'br' ? createBrotliCompress(BROTLI_OPTIONS) : createGzip();
  // What fails in it is seen by whoever reads the end of it.
  return pipeline(body, compressor, () => undefined);
}
