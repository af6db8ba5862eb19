import { pipeline, Readable } from 'node:stream';
import { createBrotliCompress, createGzip } from 'node:zlib';

import type { Middleware } from 'koa';

import { BROTLI_OPTIONS, type Coding, compress } from '../core/http/content';
import { codingFor, setEtag } from '../plugins/send-content';

/** Compresses bodies that are long enough and not yet encoded, for clients that accept it. */
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
  // The consumer of the stream sees its errors.
  return pipeline(body, compressor, () => undefined);
}
