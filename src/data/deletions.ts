import { Schema } from 'mongoose';

import { newId, type StoredId } from '../core/ids';
import { DAY_MS } from '../core/time';
import { accountModel } from './models';

/** For how many days it is known what was deleted. */
export const DELETIONS_KEPT_DAYS = 90;

/** The days of a cursor are counted from the first moment of its day, and transactions take time. */
const EXPIRES_AFTER_SECONDS = ((DELETIONS_KEPT_DAYS + 2) * DAY_MS) / 1000;

/** The kind of what stands for all of an account: whoever keeps a copy begins anew. */
export const EVERYTHING = 'everything';

/** A record of a tracked model that was deleted for good. */
export interface DeletionDocument {
  _id: StoredId;
  userId: string;
  kind: string;
  id: StoredId;
  revision: number;
  deletedAt: Date;
}

/** Of what, by which write. */
type Deletion = Omit<DeletionDocument, '_id' | 'deletedAt'>;

export function newDeletion({ userId, kind, id, revision }: Deletion): DeletionDocument {
  return { _id: newId(), userId, kind, id, revision, deletedAt: new Date() };
}

/** The record that stands for all of an account. */
export function everythingDeleted(write: Pick<Deletion, 'userId' | 'revision'>): DeletionDocument {
  return newDeletion({ ...write, kind: EVERYTHING, id: newId() });
}

export const deletionModel = accountModel<DeletionDocument>(
  'Deletion',
  new Schema<DeletionDocument>(
    {
      _id: { type: Schema.Types.UUID, required: true },
      userId: { type: String, required: true },
      kind: { type: String, required: true },
      id: { type: Schema.Types.UUID, required: true },
      revision: { type: Number, required: true },
      deletedAt: { type: Date, required: true },
    },
    { collection: 'deletions', versionKey: false },
  )
    // What was deleted since a revision.
    .index({ userId: 1, revision: 1, _id: 1 })
    // MongoDB deletes what is older.
    .index({ deletedAt: 1 }, { expireAfterSeconds: EXPIRES_AFTER_SECONDS }),
);
