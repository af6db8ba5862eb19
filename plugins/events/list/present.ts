import { idText, type StoredId } from '../../../src/core/ids';
import type { AccountScope } from '../../../src/data/models';
import type { Photos } from '../../photos';
import { event, type EventDocument, type EventView } from '../schema';

/** Events of one account as they are shown: their photos are looked up all at once. */
export async function presentEvents(
  photos: Photos,
  scope: AccountScope,
  documents: readonly EventDocument[],
): Promise<EventView[]> {
  const found = await photos.byIds(scope, documents.flatMap(photoIdsOf));
  return documents.map((document) => ({
    ...event.toView(document),
    photos: photoIdsOf(document).flatMap((id) => found.get(idText(id)) ?? []),
  }));
}

function photoIdsOf({ photos }: EventDocument): StoredId[] {
  return photos.map(({ photoId }) => photoId);
}
