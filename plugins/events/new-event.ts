import type { Account } from '../../src/core/identity';
import { newId, toStoredId } from '../../src/core/ids';
import { calendarOf } from '../../src/core/time';
import type { Transaction } from '../../src/data/writing/transaction';
import { type CreateEvent, event, type EventDocument } from './schema';

/**
 * The calendar day of an event that is logged or moved now. The event keeps it, even if the time zone of
 * the account changes.
 */
export function dayFor({ timezone }: Account, occurredAt: Date): string {
  return calendarOf(timezone)(occurredAt);
}

/**
 * The document of a new event of a plant, which by default happened now. The caller checks that its
 * photos are the account's.
 */
export function newEvent(
  { userId, account, now }: Pick<Transaction, 'userId' | 'account' | 'now'>,
  plantId: string,
  body: CreateEvent,
): EventDocument {
  const { occurredAt = now } = body;
  return {
    ...event.toDocument(
      { ...body, occurredAt },
      {
        _id: newId(),
        userId,
        plantId: toStoredId(plantId),
        createdAt: now,
        updatedAt: now,
        occurredOn: dayFor(account, occurredAt),
      },
    ),
    deletedAt: null,
    photos: photoReferences(body.photoIds ?? []),
    ...(body.scheduleId && { scheduleId: toStoredId(body.scheduleId) }),
  };
}

/** The references of an event to its photos. */
export function photoReferences(photoIds: readonly string[]): EventDocument['photos'] {
  return photoIds.map((id) => ({ photoId: toStoredId(id) }));
}
