import { DAY_MS } from '../../../src/core/time';
import type { Migration } from '../../../src/data/schema/migration';

/**
 * Lets used assertions that never expire be deleted in a year: 1.2.0 took any, and kept it until it expired. Until
 * then neither release accepts them again.
 */
export const assertions: Migration = {
  name: '0001-assertions',
  besideOlder: true,
  run: async (run) => {
    const expiresAt = new Date(Date.now() + 365 * DAY_MS);
    const late = { kind: 'ReplayDetection', expiresAt: { $gt: expiresAt } };
    await run.collection('oauthState').updateMany(late, { $set: { expiresAt } });
  },
};
