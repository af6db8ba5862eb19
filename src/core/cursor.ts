import { createHash } from 'node:crypto';

const CHECK_LENGTH = 12;

/**
 * The cursor of a place in a list.
 *
 * @param list what tells the list from all others: a cursor is good for this one only
 * @param place how to get there
 */
export function encodePlace(list: readonly unknown[], place: string): string {
  return Buffer.from(`${check(list, place)}${place}`).toString('base64url');
}

/** The place of a cursor; undefined for anything that {@link encodePlace} did not make for this list. */
export function decodePlace(list: readonly unknown[], cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  const place = text.slice(CHECK_LENGTH);
  const isGenuine =
    // Decoders pass over what is not base64url or UTF-8, so a cursor must also encode back to itself.
    Buffer.from(text).toString('base64url') === cursor &&
    text.slice(0, CHECK_LENGTH) === check(list, place);
  return isGenuine ? place : undefined;
}

/** Ties a place to its list. Not a secret: a forged one only moves within their own records. */
function check(list: readonly unknown[], place: string): string {
  return createHash('sha256')
    .update(JSON.stringify([...list, place]))
    .digest('base64url')
    .slice(0, CHECK_LENGTH);
}
