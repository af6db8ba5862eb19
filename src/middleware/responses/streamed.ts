import type { Logger } from 'pino';

import { toClientError } from './client-error';

/** Shorter responses are not streamed. In UTF-16 code units. */
const MAX_WHOLE = 256 * 1024;

/**
 * Returns a short text as a string, and a long one as an iterable that makes its pieces on demand. An
 * early failure is thrown; a later one can only cut the response short.
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

/** Not a generator, whose `return` does not close its source unless it was started. */
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
