import { Schema } from 'mongoose';

import { accountModel } from '../../src/data/model/models';
import { plant, type PlantDocument } from './schema';

/** The quota of plants. */
export const PLANT_QUOTA = 'plants';

const schema = new Schema(plant.paths, { collection: 'plants' })
  // The list, in its order.
  .index({ userId: 1, createdAt: 1, _id: 1 })
  // The locations, each with its oldest active plant; the plants at a location, in the order of the list.
  .index({ userId: 1, location: 1, archivedAt: 1, createdAt: 1, _id: 1 })
  // The plants that show a photo.
  .index({ userId: 1, primaryPhotoId: 1, revision: 1, _id: 1 });

export const plantModel = accountModel<PlantDocument>('Plant', schema, {
  tracked: 'plant',
  quota: PLANT_QUOTA,
  exemptedBy: 'archivedAt',
});
