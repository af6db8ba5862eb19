import { Schema } from 'mongoose';

import { accountModel } from '../../src/data/models';
import { photo, type PhotoDocument } from './schema';

export const photoModel = accountModel<PhotoDocument>(
  'Photo',
  new Schema(photo.paths, { collection: 'photos', versionKey: false })
    // The photos of a plant that is deleted; counts of an account's photos.
    .index({ userId: 1, plantId: 1 }),
);
