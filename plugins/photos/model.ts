import { resourceModel } from '../../src/data/resource';
import { photo } from './schema';

/** What photos count against. */
export const PHOTO_QUOTA = 'photos';

export const photoModel = resourceModel(
  'Photo',
  'photos',
  photo,
  [
    // The photos of a plant, listed or to be detached; counts of an account's photos.
    { userId: 1, plantId: 1, createdAt: -1, _id: 1 },
    // The list.
    { userId: 1, createdAt: -1, _id: 1 },
  ],
  { tracked: 'photo', quota: PHOTO_QUOTA },
);
