import { setImmediate } from 'node:timers/promises';

/** How much JSON an answer that could be shorter may be, in bytes. */
export const MAX_ANSWER_BYTES = 1_000_000;
/** Of these the items of a page; the rest is for what stands around them. */
const MAX_PAGE_BYTES = MAX_ANSWER_BYTES - 1000;

/** How much of a long text is made at a time, in UTF-16 code units. */
const PIECE_LENGTH = 16 * 1024;

/** The JSON text of an array, piece by piece as its items come; one piece where it is short. */
export async function* jsonArray(
  batches: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<string> {
  let piece = '[';
  let separator = '';
  for await (const batch of batches) {
    for (const item of batch) {
      piece += separator + JSON.stringify(item);
      separator = ',';
      if (piece.length < PIECE_LENGTH) continue;
      yield piece;
      piece = '';
      // Whoever reads as fast as this writes must not keep others waiting.
      await setImmediate();
    }
  }
  yield `${piece}]`;
}

/** As many of the first items as a page may hold, and at least one where there is one. */
export async function firstOfPage<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const page: T[] = [];
  let bytes = 0;
  for await (const batch of batches) {
    for (const item of batch) {
      bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
      if (bytes > MAX_PAGE_BYTES && page.length > 0) return page;
      page.push(item);
    }
  }
  return page;
}
