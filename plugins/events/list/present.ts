import { idText, type StoredId } from '../../../src/core/ids';
import type { Tenant } from '../../../src/data/model/models';
import { newestFirst } from '../../../src/data/page';
import type { Photos, PhotoView } from '../../photos';
import { event, type EventDocument, type EventView } from '../schema';

/** The order of lists of events. */
export const NEWEST_FIRST = newestFirst('occurredAt');

/** Photos looked up at once: more than most pages show, and few enough to hold in memory. */
const MAX_LOOKED_UP = 200;

/** The views of events of one account; their photos are looked up many at a time. */
export async function* presentEvents(
  photos: Photos,
  tenant: Tenant,
  documents: Iterable<EventDocument>,
): AsyncGenerator<EventView[]> {
  for (const group of groupsOf(documents)) {
    const found = await photos.byIds(tenant, group.flatMap(photoIdsOf));
    yield group.map((document) => {
      const shown = photoIdsOf(document).flatMap((id) => found.get(idText(id)) ?? []);
      return viewOf(document, shown);
    });
  }
}

/** The view of an event with its photos. */
export function viewOf(document: EventDocument, photos: PhotoView[]): EventView {
  // Not a copy, which would cost as much as the view itself.
  const view: EventView = Object.assign(event.toView(document), { photos });
  if (document.scheduleId) view.scheduleId = idText(document.scheduleId);
  if (document.by) view.by = document.by;
  return view;
}

/** The views of events as one array. */
export async function presented(
  photos: Photos,
  tenant: Tenant,
  documents: Iterable<EventDocument>,
): Promise<EventView[]> {
  const views: EventView[] = [];
  for await (const batch of presentEvents(photos, tenant, documents)) views.push(...batch);
  return views;
}

/** The events in groups that do not show too many photos. */
function* groupsOf(documents: Iterable<EventDocument>): Generator<EventDocument[]> {
  let group: EventDocument[] = [];
  let shown = 0;
  for (const document of documents) {
    const more = document.photos.length;
    if (group.length > 0 && shown + more > MAX_LOOKED_UP) {
      yield group;
      group = [];
      shown = 0;
    }
    group.push(document);
    shown += more;
  }
  if (group.length > 0) yield group;
}

function photoIdsOf({ photos }: EventDocument): StoredId[] {
  return photos.map(({ photoId }) => photoId);
}
