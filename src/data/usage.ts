import type { DerivedData } from '../plugins/manifest';
import type { Transaction } from './transaction';

/** What counts against a quota, computed anew by counting the records themselves. */
export function usageOf(quota: string, count: (tx: Transaction) => Promise<number>): DerivedData {
  return {
    name: `usage of ${quota}`,
    rebuild: async (tx) => {
      const stored = tx.account.usage[quota] ?? 0;
      const counted = await count(tx);
      if (stored === counted) return [];
      await tx.addUsage(quota, counted - stored);
      return [`${stored} should be ${counted}`];
    },
  };
}
