import { idText } from '../../src/core/ids';
import { ChangedRecords, SOFTLY_DELETED } from '../../src/data/changes';
import { type AccountScope, LIVE } from '../../src/data/models';
import type { Records } from '../../src/data/records';
import type { Photos } from '../photos';
import type { Plants } from '../plants';
import { presentEvents } from './list/present';
import type { EventDocument, EventView } from './schema';

/** Events for those who keep a copy of them: those that are there, and those that are deleted. */
export function eventChanges(
  events: Records<EventDocument, AccountScope>,
  plants: Plants,
  photos: Photos,
) {
  /** Shows those whose plant is there: one that is deleted stands for its events. */
  const presentReachable = async <View>(
    scope: AccountScope,
    documents: readonly EventDocument[],
    present: (reachable: readonly EventDocument[]) => Promise<View[]>,
  ): Promise<(View | undefined)[]> => {
    const there = await plants.existing(
      scope,
      documents.map(({ plantId }) => plantId),
    );
    const reachable = documents.filter(({ plantId }) => there.has(idText(plantId)));
    const views = (await present(reachable)).values();
    return documents.map(({ plantId }) =>
      there.has(idText(plantId)) ? views.next().value : undefined,
    );
  };
  return {
    live: new ChangedRecords<EventDocument, EventView>(events, {
      filter: LIVE,
      references: 'photos.photoId',
      present: (scope, documents) =>
        presentReachable(scope, documents, async (reachable) => {
          const views: EventView[] = [];
          for await (const batch of presentEvents(photos, scope, reachable)) views.push(...batch);
          return views;
        }),
    }),
    deleted: new ChangedRecords<EventDocument, { kind: string; id: string }>(events, {
      filter: SOFTLY_DELETED,
      present: (scope, documents) =>
        presentReachable(scope, documents, (reachable) =>
          Promise.resolve(reachable.map(({ _id }) => ({ kind: 'event', id: idText(_id) }))),
        ),
    }),
  };
}
