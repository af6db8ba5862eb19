import { ErrorCode, recordNotFound } from '../../src/core/errors';

export const photoNotFound = recordNotFound(
  'photo',
  'Ids of photos are in the plants of list_plants and the events of list_events; create_photo gives a new one.',
);
/** Where a field of a request names a photo. */
export const unknownPhoto = photoNotFound.at(400, 'A field names a photo that is not yours.');
export const photoLimitReached = new ErrorCode(
  'photo_limit_reached',
  403,
  'You have as many photos as your tier allows.',
  'No tool deletes photos; the person needs another tier.',
);
export const invalidCrop = new ErrorCode(
  'invalid_crop',
  400,
  'The crop is not a square within the image.',
  'Call get_photo for the width and height of the image, then crop_photo again.',
);
