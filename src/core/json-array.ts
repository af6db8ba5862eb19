import { ownTurn } from './turns';

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
      await ownTurn();
    }
  }
  yield `${piece}]`;
}

/** As many of the first items as a page may hold, and at least one where there is one. */
export async function firstOfPage<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const page: T[] = [];
  // Making the text of a page only to measure it would take as long as making it to be sent.
  let bytesOf = mostBytes;
  let bytes = 0;
  for await (const batch of batches) {
    for (const item of batch) {
      bytes += bytesOf(item);
      if (bytes > MAX_PAGE_BYTES && bytesOf === mostBytes) {
        await ownTurn();
        bytesOf = exactBytes;
        bytes = [...page, item].reduce((sum, each) => sum + exactBytes(each), 0);
      }
      if (bytes > MAX_PAGE_BYTES && page.length > 0) return page;
      page.push(item);
    }
  }
  return page;
}

/** The length of an item's JSON and of what separates it from the next. */
function exactBytes(item: unknown): number {
  return Buffer.byteLength(JSON.stringify(item)) + 1;
}

/** No character takes more: escaped it is \\u and four digits. */
const BYTES_PER_CODE_UNIT = 6;
/** No number, date or word of JSON is longer, nor what separates members. */
const BYTES_PER_VALUE = 32;

/** No fewer bytes than the JSON of a value has, without making it. */
function mostBytes(value: unknown): number {
  if (typeof value === 'string') return value.length * BYTES_PER_CODE_UNIT + BYTES_PER_VALUE;
  if (typeof value !== 'object' || value === null || value instanceof Date) return BYTES_PER_VALUE;
  let bytes = BYTES_PER_VALUE;
  for (const [name, member] of Object.entries(value)) {
    bytes += name.length * BYTES_PER_CODE_UNIT + mostBytes(member);
  }
  return bytes;
}
