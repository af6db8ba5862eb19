import { Schema } from 'mongoose';

import { DAY_MS } from '../../core/time';
import { accountModel } from '../model/models';
import { DELETION, type DeletionDocument } from '../model/tracking';

/** Days for which deletions are kept. */
export const DELETIONS_KEPT_DAYS = 90;

/** Longer, since cursors count whole days. */
const EXPIRES_AFTER_SECONDS = ((DELETIONS_KEPT_DAYS + 2) * DAY_MS) / 1000;

export const deletionModel = accountModel<DeletionDocument>(
  DELETION,
  new Schema<DeletionDocument>(
    {
      _id: { type: Schema.Types.UUID, required: true },
      userId: { type: String, required: true },
      kind: { type: String, required: true },
      id: { type: Schema.Types.UUID, required: true },
      revision: { type: Number, required: true },
      deletedAt: { type: Date, required: true },
    },
    { collection: 'deletions' },
  )
    // Deletions since a revision.
    .index({ userId: 1, revision: 1, _id: 1 })
    // Expiry.
    .index({ deletedAt: 1 }, { expireAfterSeconds: EXPIRES_AFTER_SECONDS }),
);
