import { createHash } from 'node:crypto';

import { idText, isUuid, toStoredId, type StoredId } from '../../../src/core/ids';
import { invalidCursor } from '../errors';

/** A place in a plant's list: just after this event. */
export interface Position {
  occurredAt: Date;
  id: StoredId;
}

const CHECK_LENGTH = 12;

/** The cursor of a position. It is good for this account's list of this plant only. */
export function encodeCursor(userId: string, plantId: string, position: Position): string {
  const place = `${position.occurredAt.getTime()}.${idText(position.id)}`;
  return Buffer.from(`${check(userId, plantId, place)}${place}`).toString('base64url');
}

/** @throws ApiError invalid_cursor for anything that {@link encodeCursor} did not make for this list */
export function decodeCursor(userId: string, plantId: string, cursor: string): Position {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const place = text.slice(CHECK_LENGTH);
  const [milliseconds = '', id = ''] = place.split('.');
  const isGenuine =
    // The decoder skips what is not base64url, so a cursor must also encode back to itself.
    Buffer.from(text, 'latin1').toString('base64url') === cursor &&
    text.slice(0, CHECK_LENGTH) === check(userId, plantId, place) &&
    isUuid(id);
  if (!isGenuine) throw invalidCursor.error();
  return { occurredAt: new Date(Number(milliseconds)), id: toStoredId(id) };
}

/** Ties a place to its list. Not a secret: a forged one only moves within their own events. */
function check(userId: string, plantId: string, place: string): string {
  return createHash('sha256')
    .update(JSON.stringify([userId, plantId.toLowerCase(), place]))
    .digest('base64url')
    .slice(0, CHECK_LENGTH);
}
