import type { ClientSession } from 'mongoose';

/** Whose user data a query is about and, within a transaction or snapshot, at which moment. */
export interface Tenant {
  readonly userId: string;
  readonly session?: ClientSession;
}

/** Finds records that are not deleted softly. */
export const LIVE = { deletedAt: null };
