import { decodePlace, encodePlace } from '../core/cursor';
import { invalidCursor } from '../core/errors';
import { idText, isUuid, toStoredId, type StoredId } from '../core/ids';

/** A position in a list that is sorted by a date, then by id: just after this record. */
export interface Position {
  moment: Date;
  id: StoredId;
}

/** The account of a list, and all else that selects its records. */
type ListIdentity = readonly [userId: string, ...rest: unknown[]];

/** Makes the cursor of a position, which is valid for this list only. */
export function encodeCursor(list: ListIdentity, { moment, id }: Position): string {
  return encodePlace(list, `${moment.getTime()}.${idText(id)}`);
}

/** @throws ApiError invalid_cursor for anything that {@link encodeCursor} did not make for this list */
export function decodeCursor(list: ListIdentity, cursor: string): Position {
  const [milliseconds = '', id = ''] = decodePlace(list, cursor)?.split('.') ?? [];
  const moment = new Date(/^-?\d+$/.test(milliseconds) ? Number(milliseconds) : NaN);
  if (!isUuid(id) || Number.isNaN(moment.getTime())) throw invalidCursor.error();
  return { moment, id: toStoredId(id) };
}
