import { Schema } from 'mongoose';

import { accountModel } from '../../src/data/model/models';
import { photo, type PhotoDocument } from './schema';

/** The quota of photos. */
export const PHOTO_QUOTA = 'photos';

const schema = new Schema(photo.paths, { collection: 'photos' })
  // The photos of a plant; the number of photos of an account.
  .index({ userId: 1, plantId: 1, createdAt: -1, _id: 1 })
  // The list.
  .index({ userId: 1, createdAt: -1, _id: 1 });

export const photoModel = accountModel<PhotoDocument>('Photo', schema, {
  tracked: 'photo',
  quota: PHOTO_QUOTA,
});
