import { Schema } from 'mongoose';

import { defineModel } from '../../src/data/models';
import type { StoredId } from '../../src/ids';
import { EVENT_TYPES, type EventType, GROWTH_UNITS, type GrowthUnit } from './schema';

export interface EventDocument {
  _id: StoredId;
  userId: string;
  plantId: StoredId;
  type: EventType;
  text: string | null;
  growthAmount: number | null;
  growthUnit: GrowthUnit | null;
  occurredAt: Date;
  createdAt: Date;
  updatedAt: Date;
  /** Set once the event is deleted (section 3). */
  deletedAt: Date | null;
  photos: { photoId: StoredId }[];
}

const LIVE = { partialFilterExpression: { deletedAt: null } };

export const eventModel = defineModel<EventDocument>({
  name: 'Event',
  owner: 'account',
  schema: new Schema<EventDocument>(
    {
      _id: { type: Schema.Types.UUID, required: true },
      userId: { type: String, required: true },
      plantId: { type: Schema.Types.UUID, required: true },
      type: { type: String, enum: EVENT_TYPES, required: true },
      text: { type: String, default: null },
      growthAmount: { type: Number, default: null },
      growthUnit: { type: String, enum: [...GROWTH_UNITS, null], default: null },
      occurredAt: { type: Date, required: true },
      createdAt: { type: Date, required: true },
      updatedAt: { type: Date, required: true },
      deletedAt: { type: Date, default: null },
      photos: { type: [{ _id: false, photoId: { type: Schema.Types.UUID, required: true } }] },
    },
    { collection: 'events', versionKey: false },
  )
    // A plant's page, month and latest event.
    .index({ userId: 1, plantId: 1, occurredAt: -1, _id: 1 }, LIVE)
    // A plant's latest watering; its first and last growth.
    .index({ userId: 1, plantId: 1, type: 1, occurredAt: -1 }, LIVE),
});

/** A plant that was removed and whose events are yet to be marked deleted. */
export interface RemovedPlantDocument {
  _id: StoredId;
  userId: string;
  removedAt: Date;
}

export const removedPlantModel = defineModel<RemovedPlantDocument>({
  name: 'RemovedPlant',
  owner: 'account',
  schema: new Schema<RemovedPlantDocument>(
    {
      _id: { type: Schema.Types.UUID, required: true },
      userId: { type: String, required: true },
      removedAt: { type: Date, required: true },
    },
    { collection: 'removedPlants', versionKey: false },
  )
    // What an account's totals still count though it is gone.
    .index({ userId: 1 }),
});
