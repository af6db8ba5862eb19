import { decodePlace, encodePlace } from '../../../src/core/cursor';
import { idText, isUuid, toStoredId, type StoredId } from '../../../src/core/ids';
import { invalidCursor } from '../errors';

/** A place in a plant's list: just after this event. */
export interface Position {
  occurredAt: Date;
  id: StoredId;
}

/** The cursor of a position. It is good for this account's list of this plant only. */
export function encodeCursor(userId: string, plantId: string, position: Position): string {
  const place = `${position.occurredAt.getTime()}.${idText(position.id)}`;
  return encodePlace([userId, plantId.toLowerCase()], place);
}

/** @throws ApiError invalid_cursor for anything that {@link encodeCursor} did not make for this list */
export function decodeCursor(userId: string, plantId: string, cursor: string): Position {
  const place = decodePlace([userId, plantId.toLowerCase()], cursor);
  const [milliseconds = '', id = ''] = place?.split('.') ?? [];
  if (!isUuid(id)) throw invalidCursor.error();
  return { occurredAt: new Date(Number(milliseconds)), id: toStoredId(id) };
}
