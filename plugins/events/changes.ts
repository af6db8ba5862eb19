import { idText } from '../../src/core/ids';
import { ChangedRecords, LIVE, SOFTLY_DELETED } from '../../src/data/changes';
import type { AccountScope } from '../../src/data/models';
import type { EventContext } from './context';
import { presentEvents } from './list/present';
import type { EventDocument, EventView } from './schema';

/** Events for those who keep a copy of them: those that are there, and those that are deleted. */
export function eventChanges({ records, plants, photos }: EventContext) {
  /** Those whose plant is there: one that is deleted stands for its events. */
  const reachable = async (scope: AccountScope, documents: readonly EventDocument[]) => {
    const there = await plants.existing(
      scope,
      documents.map(({ plantId }) => plantId),
    );
    return documents.filter(({ plantId }) => there.has(idText(plantId)));
  };
  return {
    live: new ChangedRecords<EventDocument, EventView>(records, {
      filter: LIVE,
      references: 'photos.photoId',
      present: async (scope, documents) => {
        const views = new Map<string, EventView>();
        const there = await reachable(scope, documents);
        for await (const batch of presentEvents(photos, scope, there)) {
          for (const view of batch) views.set(view.id, view);
        }
        return documents.map(({ _id }) => views.get(idText(_id)));
      },
    }),
    deleted: new ChangedRecords<EventDocument, { kind: string; id: string }>(records, {
      filter: SOFTLY_DELETED,
      present: async (scope, documents) => {
        const there = new Set(await reachable(scope, documents));
        return documents.map((document) =>
          there.has(document) ? { kind: 'event', id: idText(document._id) } : undefined,
        );
      },
    }),
  };
}
