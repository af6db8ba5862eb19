import { yieldToEventLoop } from '../async';
import { isRecord } from '../values';
import { JsonFault, JsonLimits } from './json-limits';

// It removes a byte order mark.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses JSON: valid UTF-8 within {@link JsonLimits}. It keeps all keys; {@link prototypeKeyIn} finds those
 * that must not be copied.
 *
 * @throws JsonFault
 */
export function parseJson(bytes: Uint8Array, maxValues?: number): unknown {
  new JsonLimits(maxValues).read(bytes);
  const text = textOf(bytes);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new JsonFault('is not valid JSON', { cause: error });
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new JsonFault('is not valid UTF-8');
  }
}

/** Keys that change the prototype of an object that they are copied to. */
const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor']);

/** The path of a key that would change prototypes, such as `notes.0.__proto__`, if any. */
export function prototypeKeyIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  // A list can be too long for an array of entries.
  for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (PROTOTYPE_KEYS.has(String(key))) return String(key);
    const inner = prototypeKeyIn(member);
    if (inner !== undefined) return `${key}.${inner}`;
  }
  return undefined;
}

/** Messages that name a field without quotes around it. */
export const BARE_LABELS = { errors: { wrap: { label: false } } } as const;

/** Options for JSON, which has its own types, so that nothing is converted. */
export const JSON_VALIDATION = { ...BARE_LABELS, convert: false } as const;

/** The maximum size of the items of a page as JSON, in bytes: 1 MB for the whole page. */
const MAX_PAGE_BYTES = 1_000_000 - 1000;

/** The length of a piece of a long text, in UTF-16 code units. */
export const PIECE_LENGTH = 16 * 1024;
/** Smaller values are serialized in one piece, within 2 ms. In bytes. */
const MAX_PIECE_BYTES = 512 * 1024;

/** Serializes a plain value to JSON. Long lists yield to the event loop after each piece. */
export async function jsonText(value: unknown): Promise<string> {
  const isList = Array.isArray(value);
  const mayBeLong = isList || isRecord(value);
  if (!mayBeLong || maxBytesOf(value, MAX_PIECE_BYTES) <= MAX_PIECE_BYTES) {
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

/** Serializes batches of items to one JSON array, piece by piece. */
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
      // A fast reader must not keep others waiting.
      await yieldToEventLoop();
    }
  }
  yield `${piece}]`;
}

/** Returns the first items, as many as a page may have, and at least one if there is one. */
export async function takePage<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const page: T[] = [];
  // To serialize a page just to measure it would double the cost.
  let bytesOf = maxBytesOf;
  let bytes = 0;
  for await (const batch of batches) {
    for (const item of batch) {
      bytes += bytesOf(item);
      if (bytes > MAX_PAGE_BYTES && bytesOf === maxBytesOf) {
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

/** The size of an item as JSON, with a separator. */
function exactBytes(item: unknown): number {
  return Buffer.byteLength(JSON.stringify(item)) + 1;
}

/** The maximum: an escape of \\u and four digits. */
const BYTES_PER_CODE_UNIT = 6;
/** The maximum of a number, date or literal, with separators. */
const BYTES_PER_VALUE = 32;

/**
 * An upper bound for the size of a value as JSON, without serializing it.
 *
 * @param limit stops once the bound exceeds this
 */
function maxBytesOf(value: unknown, limit = Infinity): number {
  if (typeof value === 'string') return value.length * BYTES_PER_CODE_UNIT + BYTES_PER_VALUE;
  if (typeof value !== 'object' || value === null || value instanceof Date) return BYTES_PER_VALUE;
  let bytes = BYTES_PER_VALUE;
  const names = Array.isArray(value) ? [] : Object.keys(value);
  for (const name of names) bytes += name.length * BYTES_PER_CODE_UNIT;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (bytes > limit) break;
    bytes += maxBytesOf(member, limit - bytes);
  }
  return bytes;
}
