import type { Logger } from 'pino';

import { toClientError } from './client-error';

/** Responses up to about this length are made whole; in UTF-16 code units. */
const MAX_WHOLE = 256 * 1024;

/**
 * A text: whole where it is not long, else piece by piece, of which no more is made than its reader
 * takes. What fails in the beginning is thrown here; what fails later can only cut the response short.
 */
export async function streamed(
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

/** An iterable, not a generator: one that nobody begins to read must end what is behind it too. */
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
