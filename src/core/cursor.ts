import { createHash } from 'node:crypto';

const CHECK_LENGTH = 12;

/**
 * Makes the cursor of a place in a list.
 *
 * @param list identifies the list: the cursor is valid for this list only
 * @param place identifies the place
 */
export function encodePlace(list: readonly unknown[], place: string): string {
  return Buffer.from(`${check(list, place)}${place}`).toString('base64url');
}

/** Returns the place of a cursor, or undefined unless {@link encodePlace} made it for this list. */
export function decodePlace(list: readonly unknown[], cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  const place = text.slice(CHECK_LENGTH);
  const isGenuine =
    // Decoders ignore invalid base64url and UTF-8, so compare with the encoded text.
    Buffer.from(text).toString('base64url') === cursor &&
    text.slice(0, CHECK_LENGTH) === check(list, place);
  return isGenuine ? place : undefined;
}

/** Binds a place to its list. It is no secret: a forged cursor only reads the caller's own records. */
function check(list: readonly unknown[], place: string): string {
  return createHash('sha256')
    .update(JSON.stringify([...list, place]))
    .digest('base64url')
    .slice(0, CHECK_LENGTH);
}
