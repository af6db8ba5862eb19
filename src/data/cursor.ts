import { createHash } from 'node:crypto';

import { invalidCursor } from '../core/errors';
import { idText, isUuid, toStoredId, type StoredId } from '../core/ids';

/** A place in a list that goes by a moment, then by id: just after this record. */
export interface Position {
  moment: Date;
  id: StoredId;
}

/** What a list is of: the account, and whatever else decides which records are in it. */
export type ListIdentity = readonly [userId: string, ...rest: unknown[]];

const CHECK_LENGTH = 12;

/** The cursor of a position. It is good for this list only. */
export function encodeCursor(list: ListIdentity, position: Position): string {
  const place = `${position.moment.getTime()}.${idText(position.id)}`;
  return Buffer.from(`${check(list, place)}${place}`).toString('base64url');
}

/** @throws ApiError invalid_cursor for anything that {@link encodeCursor} did not make for this list */
export function decodeCursor(list: ListIdentity, cursor: string): Position {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const place = text.slice(CHECK_LENGTH);
  const [milliseconds = '', id = ''] = place.split('.');
  const isGenuine =
    // The decoder skips what is not base64url, so a cursor must also encode back to itself.
    Buffer.from(text, 'latin1').toString('base64url') === cursor &&
    text.slice(0, CHECK_LENGTH) === check(list, place) &&
    isUuid(id);
  if (!isGenuine) throw invalidCursor.error();
  return { moment: new Date(Number(milliseconds)), id: toStoredId(id) };
}

/** Ties a place to its list. Not a secret: a forged one only moves within their own records. */
function check(list: ListIdentity, place: string): string {
  return createHash('sha256')
    .update(JSON.stringify([...list, place]))
    .digest('base64url')
    .slice(0, CHECK_LENGTH);
}
