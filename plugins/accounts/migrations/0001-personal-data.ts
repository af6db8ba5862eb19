import type { Migration } from '../../../src/data/schema/migration';

/**
 * Changes nothing, but lets servers of 1.2.0 stop writing: they would delete an account without its address, its
 * reminders and its memberships, which they do not know.
 */
export const personalData: Migration = { name: '0001-personal-data', run: async () => undefined };
