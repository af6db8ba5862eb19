import { resourceModel } from '../../src/data/resource';
import { plant } from './schema';

/** What plants count against. */
export const PLANT_QUOTA = 'plants';

export const plantModel = resourceModel(
  'Plant',
  'plants',
  plant,
  [
    // The list, in its order.
    { userId: 1, createdAt: 1, _id: 1 },
    // The locations, each with its oldest active plant; the plants of one, in the order of the list.
    { userId: 1, location: 1, archivedAt: 1, createdAt: 1, _id: 1 },
    // The plants that show a photo.
    { userId: 1, primaryPhotoId: 1, revision: 1, _id: 1 },
  ],
  { tracked: 'plant', quota: PLANT_QUOTA, freedBy: 'archivedAt' },
);
