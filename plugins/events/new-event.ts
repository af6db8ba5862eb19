import { newId, toStoredId } from '../../src/core/ids';
import type { Transaction } from '../../src/data/transaction';
import type { PhotoView } from '../photos';
import { type CreateEvent, event, type EventDocument } from './schema';

/** The document of a new event of a plant; without a moment it happened now. */
export function newEvent(
  tx: Transaction,
  plantId: string,
  body: CreateEvent,
  photos: readonly PhotoView[],
): EventDocument {
  const { userId, now } = tx;
  return {
    ...event.toDocument(
      { ...body, occurredAt: body.occurredAt ?? now },
      { _id: newId(), userId, plantId: toStoredId(plantId), createdAt: now, updatedAt: now },
    ),
    deletedAt: null,
    photos: photos.map(({ id }) => ({ photoId: toStoredId(id) })),
  };
}
