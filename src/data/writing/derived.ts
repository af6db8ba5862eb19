import type { Transaction } from './transaction';
import type { OwnedModel } from '../model/owner';
import { resetSyncClients } from '../model/tracking';

/** Data that can be recomputed from other data. */
export interface DerivedData {
  name: string;
  /** Recomputes it for the account of `tx`, writes what differs, and returns the differences. */
  rebuild(tx: Transaction): Promise<string[]>;
}

/** Counts the records of the account of `tx` against a quota. */
export type CountRecords = (tx: Transaction) => Promise<number>;

/** The usage of a quota, recomputed by counting records. */
export function quotaUsage(quota: string, count: CountRecords): DerivedData {
  return {
    name: `usage of ${quota}`,
    rebuild: async (tx) => {
      const stored = tx.account.usage[quota] ?? 0;
      const counted = await count(tx);
      if (stored === counted) return [];
      tx.addUsage(quota, counted - stored);
      return [`${stored} should be ${counted}`];
    },
  };
}

const NONE: object = { revision: null };

/**
 * The revisions of tracked records, without which `GET /api/changes` does not list them. Only releases
 * before 1.1.0 write such records, and do not track other changes either: so clients start their copies
 * again.
 */
export function missingRevisions(collection: string, model: OwnedModel<object>): DerivedData {
  return {
    name: `revisions of ${collection}`,
    rebuild: async (tx) => {
      const count = await model.countDocuments(NONE).of(tx);
      if (count === 0) return [];
      // `tracked` sets the revision of this write.
      await model.updateMany(NONE, {}).of(tx);
      await resetSyncClients(tx, model.db);
      return [
        `missing from ${count}, should be from none: an earlier release wrote beside this one`,
      ];
    },
  };
}
