import { createHash } from 'node:crypto';

const CHECK_LENGTH = 12;

/**
 * Makes the cursor of a position in a list.
 *
 * @param list identifies the list: the cursor is valid for this list only
 * @param position identifies the position
 */
export function encodePosition(list: readonly unknown[], position: string): string {
  return Buffer.from(`${check(list, position)}${position}`).toString('base64url');
}

/** Returns the position of a cursor, or undefined unless {@link encodePosition} made it for this list. */
export function decodePosition(list: readonly unknown[], cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  const position = text.slice(CHECK_LENGTH);
  const isGenuine =
    // Decoders ignore invalid base64url and UTF-8, so compare with the encoded text.
    Buffer.from(text).toString('base64url') === cursor &&
    text.slice(0, CHECK_LENGTH) === check(list, position);
  return isGenuine ? position : undefined;
}

/** Binds a position to its list. It is no secret: a forged cursor only reads the caller's own records. */
function check(list: readonly unknown[], position: string): string {
  return createHash('sha256')
    .update(JSON.stringify([...list, position]))
    .digest('base64url')
    .slice(0, CHECK_LENGTH);
}
