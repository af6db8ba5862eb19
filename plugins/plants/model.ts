import { Schema } from 'mongoose';

import { defineModel } from '../../src/data/models';
import type { StoredId } from '../../src/ids';
import { DETAILS, type PlantDetails, type PlantEssentials } from './schema';

export type PlantDocument = PlantEssentials &
  Omit<PlantDetails, 'primaryPhotoId'> & {
    _id: StoredId;
    userId: string;
    primaryPhotoId: StoredId | null;
    createdAt: Date;
    updatedAt: Date;
    /** Derived: the greatest `occurredAt` of the plant's live waterings, and of all live events. */
    lastWatered: Date | null;
    lastEvent: Date | null;
  };

const details = Object.fromEntries(
  DETAILS.map(([name, { type }]) => [
    name,
    { type: type === 'number' ? Number : String, default: null },
  ]),
);

export const plantModel = defineModel<PlantDocument>({
  name: 'Plant',
  owner: 'account',
  schema: new Schema<PlantDocument>(
    {
      _id: { type: Schema.Types.UUID, required: true },
      userId: { type: String, required: true },
      name: { type: String, required: true },
      mossPoleNeeded: { type: Boolean, required: true },
      toxic: { type: Boolean, required: true },
      ...details,
      primaryPhotoId: { type: Schema.Types.UUID, default: null },
      createdAt: { type: Date, required: true },
      updatedAt: { type: Date, required: true },
      lastWatered: { type: Date, default: null },
      lastEvent: { type: Date, default: null },
    },
    { collection: 'plants', versionKey: false },
  )
    // The list, in its order.
    .index({ userId: 1, createdAt: 1, _id: 1 })
    // The distinct locations.
    .index({ userId: 1, location: 1 }),
});
