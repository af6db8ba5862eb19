import { ErrorCode, recordNotFound } from '../../src/core/errors';

export const photoNotFound = recordNotFound(
  'photo',
  'Call list_photos for the ids of all photos; create_photo gives a new one.',
);
/** Where a field of a request names a photo. */
export const unknownPhoto = photoNotFound.at(400, 'A field names a photo that is not yours.');
export const photoLimitReached = new ErrorCode(
  'photo_limit_reached',
  403,
  'Photo limit of the tier reached.',
  'Only delete_photo frees a place, or another tier; the person has to decide.',
);
export const invalidCrop = new ErrorCode(
  'invalid_crop',
  400,
  'The crop is not a square within the image.',
  'Call get_photo for the width and height of the image, then crop_photo again.',
);
