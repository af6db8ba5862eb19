import { anyOf, toStoredId } from '../../../src/core/ids';
import { LIVE } from '../../../src/data/model/models';
import type { DerivedData } from '../../../src/data/writing/derived';
import type { EventContext } from '../context';
import type { PlantDeletions } from './plant-deletions';

/** Events removed by one repair, which is one transaction. */
const MAX_REMOVED = 50_000;

/** Removes what an import wrote that was killed before it wrote the plants. Copies never had these events. */
export function withoutPlants(
  { model, plants }: EventContext,
  deletions: Pick<PlantDeletions, 'plantIds'>,
): DerivedData {
  return {
    name: 'plants of events',
    rebuild: async (tx) => {
      const { account, session } = tx;
      const existing = await plants.summaries(account.id, session);
      const deleted = await deletions.plantIds(account.id, session);
      const known = [...existing.map(({ id }) => id), ...deleted].map(toStoredId);
      const lost = model.find({ ...LIVE, plantId: { $nin: known } }).of(tx);
      const found = await lost.select('_id').limit(MAX_REMOVED).lean();
      if (found.length === 0) return [];
      const removed = model.deleteMany({ _id: anyOf(found.map(({ _id }) => _id)) });
      await removed.of(tx).setOptions({ tracked: false });
      const many = found.length === MAX_REMOVED ? `at least ${MAX_REMOVED}` : found.length;
      return [`missing from ${many} events, should be from none: an import was cut short`];
    },
  };
}
