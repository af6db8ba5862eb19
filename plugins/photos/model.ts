import { Schema } from 'mongoose';

import { ErrorCode, limitReached, recordNotFound } from '../../src/core/errors';
import { accountModel } from '../../src/data/model/models';
import { photo, type PhotoDocument } from './schema';

export const photoNotFound = recordNotFound(
  'photo',
  'Call list_photos for the ids of all photos; create_photo gives a new one.',
);
/** For a field of a request that names a photo. */
export const unknownPhoto = photoNotFound.at(400, 'A field names a photo that is not yours.');
/** For a field of a request that names a plant. */
export const unknownPlant = new ErrorCode(
  'plant_not_found',
  400,
  'A field names a plant that is not yours.',
  'Call list_plants for the ids of all plants.',
);
export const photoLimitReached = limitReached(
  'photo',
  'Only delete_photo or another tier makes room; the person has to decide.',
);
export const invalidCrop = new ErrorCode(
  'invalid_crop',
  400,
  'The crop is not a square within the image.',
  'Call get_photo for the width and height of the image, then crop_photo again.',
);

/** The kind of photos in lists of changes. */
export const PHOTO_KIND = 'photo';

/** The quota of photos. */
export const PHOTO_QUOTA = 'photos';

const schema = new Schema(photo.paths, { collection: 'photos' })
  // The photos of a plant; the number of photos of an account.
  .index({ userId: 1, plantId: 1, createdAt: -1, _id: 1 })
  // The list.
  .index({ userId: 1, createdAt: -1, _id: 1 })
  // Both by `takenAt`.
  .index({ userId: 1, plantId: 1, takenAt: -1, _id: 1 })
  .index({ userId: 1, takenAt: -1, _id: 1 });

export const photoModel = accountModel<PhotoDocument>('Photo', schema, {
  tracked: PHOTO_KIND,
  quota: PHOTO_QUOTA,
});
