import { Readable } from 'node:stream';

import type { Logger } from 'pino';

import { asApiError } from '../calls/failures';
import { jsonArray } from '../core/json-array';

/** Answers up to about this length are sent at once, with their length; in UTF-16 code units. */
const MAX_WHOLE = 64 * 1024;

/**
 * The JSON of an array as the body of an answer: a string where it is short, else a stream, which
 * makes no more of it than its reader takes. What fails before the first of it is sent is thrown
 * here; what fails later can only cut the answer short.
 */
export async function arrayBody(
  batches: AsyncIterable<readonly unknown[]>,
  log: Logger,
): Promise<string | Readable> {
  const pieces = jsonArray(batches);
  let begun = '';
  while (begun.length < MAX_WHOLE) {
    const piece = await pieces.next();
    if (piece.done === true) return begun;
    begun += piece.value;
  }
  return Readable.from(rest(begun, pieces, log), { objectMode: false });
}

async function* rest(
  begun: string,
  pieces: AsyncIterable<string>,
  log: Logger,
): AsyncGenerator<string> {
  try {
    yield begun;
    yield* pieces;
  } catch (error) {
    throw asApiError(error, log);
  }
}
