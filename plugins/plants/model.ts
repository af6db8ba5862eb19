import { Schema } from 'mongoose';

import { accountModel } from '../../src/data/models';
import { plant, type PlantDocument } from './schema';

export const plantModel = accountModel<PlantDocument>(
  'Plant',
  new Schema(plant.paths, { collection: 'plants', versionKey: false })
    // The list, in its order.
    .index({ userId: 1, createdAt: 1, _id: 1 })
    // The distinct locations.
    .index({ userId: 1, location: 1 }),
);
