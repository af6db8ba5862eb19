import type { Migration } from '../../../src/data/schema/migration';
import { ASSERTION_SECONDS } from '../server/configuration';

/** Deletes assertions that expire so late that they are no longer accepted: 1.2.0 took any, and kept it until then. */
export const assertions: Migration = {
  name: '0001-assertions',
  besideOlder: true,
  run: async (run) => {
    const latest = new Date(Date.now() + ASSERTION_SECONDS * 1000);
    const refused = { kind: 'ReplayDetection', expiresAt: { $gt: latest } };
    await run.collection('oauthState').deleteMany(refused);
  },
};
