import type { DerivedData } from '../writing/derived';
import type { OwnedModel } from '../model/owner';
import { resetSyncClients } from '../model/tracking';

const NONE: object = { revision: null };

/**
 * The revisions of tracked records, without which `GET /api/changes` does not list them. Only releases
 * before 1.1.0 write such records, and do not track other changes either: so clients start their copies
 * again.
 */
export function missingRevisions(
  collection: string,
  model: OwnedModel<object>,
): DerivedData {
  return {
    name: `revisions of ${collection}`,
    rebuild: async (tx) => {
      const count = await model.countDocuments(NONE).of(tx);
      if (count === 0) return [];
      // `tracked` sets the revision of this write.
      await model.updateMany(NONE, {}).of(tx);
      await resetSyncClients(tx, model.db);
      return [`missing from ${count}, should be from none: an earlier release wrote beside this one`];
    },
  };
}
