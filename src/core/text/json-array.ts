import { yieldToEventLoop } from '../async/event-loop';
import { isRecord } from '../values';

/** How much JSON the items of a page may be, in bytes: with what stands around them it is 1 MB. */
const MAX_PAGE_BYTES = 1_000_000 - 1000;

/** How much of a long text is made at a time, in UTF-16 code units. */
export const PIECE_LENGTH = 16 * 1024;
/** What is surely no longer than this is made in one piece, in bytes: it takes at most 2 ms. */
const MAX_PIECE_BYTES = 512 * 1024;

/** The JSON of plain values; the lists in a long one are made piece by piece, so that nobody has to wait. */
export async function jsonText(value: unknown): Promise<string> {
  const isList = Array.isArray(value);
  const mayBeLong = isList || isRecord(value);
  if (!mayBeLong || mostBytes(value, MAX_PIECE_BYTES) <= MAX_PIECE_BYTES) {
    return JSON.stringify(value);
  }
  if (isList) {
    let text = '';
    for await (const piece of jsonArray([value])) text += piece;
    return text;
  }
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    members.push(`${JSON.stringify(name)}:${await jsonText(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** The JSON text of an array, piece by piece as its items come; one piece where it is short. */
export async function* jsonArray(
  batches: AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>,
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
      await yieldToEventLoop();
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
        await yieldToEventLoop();
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

/**
 * No fewer bytes than the JSON of a value has, without making it.
 *
 * @param enough where it has more than that, it is not looked at to its end
 */
function mostBytes(value: unknown, enough = Infinity): number {
  if (typeof value === 'string') return value.length * BYTES_PER_CODE_UNIT + BYTES_PER_VALUE;
  if (typeof value !== 'object' || value === null || value instanceof Date) return BYTES_PER_VALUE;
  let bytes = BYTES_PER_VALUE;
  const names = Array.isArray(value) ? [] : Object.keys(value);
  for (const name of names) bytes += name.length * BYTES_PER_CODE_UNIT;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (bytes > enough) break;
    bytes += mostBytes(member, enough - bytes);
  }
  return bytes;
}
