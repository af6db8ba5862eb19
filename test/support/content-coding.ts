import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** A body as it was before its Content-Encoding. */
export function decoded(body: Buffer, coding: unknown): Buffer {
  // That of HEAD is empty, whatever its headers say.
  if (body.length === 0) return body;
  if (coding === 'br') return brotliDecompressSync(body);
  return coding === 'gzip' ? gunzipSync(body) : body;
}
