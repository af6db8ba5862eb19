import type { ClientSession } from 'mongoose';

/** The account of a query and, in a transaction or snapshot, its session. */
export interface Tenant {
  readonly userId: string;
  readonly session?: ClientSession;
}

/** The filter for records that are not softly deleted. */
export const LIVE = { deletedAt: null };
