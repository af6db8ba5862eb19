import type { Account } from '../../src/core/identity';
import { newId, toStoredId } from '../../src/core/ids';
import { calendarOf } from '../../src/core/time';
import type { Transaction } from '../../src/data/writing/transaction';
import { type CreateEvent, event, type EventDocument } from './schema';

/**
 * The calendar day of what is logged, or moved, just now: it stays that of the event, whatever zone
 * the account is in later.
 */
export function dayFor({ timezone }: Account, occurredAt: Date): string {
  return calendarOf(timezone)(occurredAt);
}

/**
 * The document of a new event of a plant; without a moment it happened now. Whether its photos are the
 * account's own is for the caller to check.
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
        ...{ _id: newId(), userId, plantId: toStoredId(plantId), createdAt: now, updatedAt: now },
        occurredOn: dayFor(account, occurredAt),
      },
    ),
    deletedAt: null,
    photos: photoReferences(body.photoIds ?? []),
    ...(body.scheduleId && { scheduleId: toStoredId(body.scheduleId) }),
  };
}

/** How an event refers to the photos that it shows. */
export function photoReferences(photoIds: readonly string[]): EventDocument['photos'] {
  return photoIds.map((id) => ({ photoId: toStoredId(id) }));
}
