import type { Account } from '../../src/core/identity';
import { newId, toStoredId } from '../../src/core/ids';
import { calendarOf } from '../../src/core/time';
import type { Transaction } from '../../src/data/transaction';
import type { PhotoView } from '../photos';
import { type CreateEvent, event, type EventDocument } from './schema';

/**
 * The calendar day of what is logged, or moved, just now: it stays that of the event, whatever zone
 * the account is in later.
 */
export function dayFor({ timezone }: Account, occurredAt: Date): string {
  return calendarOf(timezone)(occurredAt);
}

/** The document of a new event of a plant; without a moment it happened now. */
export function newEvent(
  tx: Transaction,
  plantId: string,
  body: CreateEvent,
  photos: readonly PhotoView[],
): EventDocument {
  const { userId, now } = tx;
  const { occurredAt = now } = body;
  return {
    ...event.toDocument(
      { ...body, occurredAt },
      {
        ...{ _id: newId(), userId, plantId: toStoredId(plantId), createdAt: now, updatedAt: now },
        occurredOn: dayFor(tx.account, occurredAt),
      },
    ),
    deletedAt: null,
    photos: photos.map(({ id }) => ({ photoId: toStoredId(id) })),
  };
}
