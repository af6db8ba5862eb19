import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** A body, decoded from its Content-Encoding. */
export function decoded(body: Buffer, coding: unknown): Buffer {
  // HEAD has headers of a body, but none.
  if (body.length === 0) return body;
  if (coding === 'br') return brotliDecompressSync(body);
  return coding === 'gzip' ? gunzipSync(body) : body;
}
