import type { ClientSession } from 'mongoose';

import { idText, type StoredId } from '../../src/ids';
import type { PhotoView } from '../photos/schema';
import type { PhotoService } from '../photos/service';
import type { EventDocument } from './model';
import type { EventView } from './schema';

/** Events of one account as they are shown: their photos are looked up all at once. */
export async function presentAll(
  photos: PhotoService,
  userId: string,
  events: readonly EventDocument[],
  session?: ClientSession,
): Promise<EventView[]> {
  const found = await photos.byIds(userId, events.flatMap(photoIdsOf), session);
  return events.map((event) =>
    present(
      event,
      photoIdsOf(event).flatMap((id) => found.get(idText(id)) ?? []),
    ),
  );
}

/** An event as it is shown, with the photos that it has. */
export function present(event: EventDocument, photos: PhotoView[]): EventView {
  const { _id, userId, plantId, type, text, growthAmount, growthUnit } = event;
  return {
    id: idText(_id),
    userId,
    plantId: idText(plantId),
    type,
    text,
    growthAmount,
    growthUnit,
    occurredAt: event.occurredAt,
    createdAt: event.createdAt,
    updatedAt: event.updatedAt,
    photos,
  };
}

function photoIdsOf(event: EventDocument): StoredId[] {
  return event.photos.map(({ photoId }) => photoId);
}
