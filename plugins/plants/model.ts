import { Schema } from 'mongoose';

import { ErrorCode, limitReached } from '../../src/core/errors';
import { IdType } from '../../src/core/ids';
import { accountModel } from '../../src/data/model/models';
import { unknownPlant } from '../photos';
import { plant, type PlantDocument } from './schema';

export const plantNotFound = unknownPlant.at(404, 'Plant not found.');
export const plantLimitReached = limitReached(
  'plant',
  'Only archive_plant, delete_plant or another tier makes room; the person has to decide.',
);
export const plantArchived = new ErrorCode(
  'plant_archived',
  400,
  'The plant is archived.',
  'If the person has the plant again, call unarchive_plant first.',
);

/** The quota of plants. */
export const PLANT_QUOTA = 'plants';

const schema = new Schema(
  { ...plant.paths, originalId: { type: IdType } },
  { collection: 'plants' },
)
  // The list, in its order.
  .index({ userId: 1, createdAt: 1, _id: 1 })
  // The locations, each with its oldest active plant; the plants at a location, in the order of the list.
  .index({ userId: 1, location: 1, archivedAt: 1, createdAt: 1, _id: 1 })
  // The plants that show a photo.
  .index({ userId: 1, primaryPhotoId: 1, revision: 1, _id: 1 })
  // The copies of some plants of an export.
  .index(
    { userId: 1, originalId: 1 },
    { partialFilterExpression: { originalId: { $exists: true } } },
  );

export const plantModel = accountModel<PlantDocument>('Plant', schema, {
  tracked: 'plant',
  quota: PLANT_QUOTA,
  exemptedBy: 'archivedAt',
});
