import type { DerivedData } from '../writing/derived';
import type { OwnedModel } from '../model/owner';
import { resetSyncClients } from '../model/tracking';

/** Those where it is missing. */
const NONE: object = { revision: null };

/**
 * The revisions of tracked records: whoever keeps a copy is never told of one that has none. Only a
 * release before 1.1.0 writes such records, and tells nothing of what else it changed or deleted: so
 * copies are begun anew.
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
      // With it each gets the revision of this very write.
      await model.updateMany(NONE, {}).of(tx);
      await resetSyncClients(tx, model.db);
      return [`missing from ${count}, should be from none: an earlier release wrote beside this one`];
    },
  };
}
