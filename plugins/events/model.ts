import { Schema } from 'mongoose';

import { IdType, type StoredId } from '../../src/core/ids';
import { accountModel, LIVE } from '../../src/data/model/models';
import { event, type EventDocument } from './schema';

const AMONG_LIVE = { partialFilterExpression: LIVE };
/** Indexes of the events that are not deleted. */
export const LIVE_INDEXES = {
  // A plant's page, month and latest event; the events of some plants.
  plant: { userId: 1, plantId: 1, occurredAt: -1, _id: 1 },
  // A plant's latest watering; its first and last growth; events of some plants and a type.
  plantType: { userId: 1, plantId: 1, type: 1, occurredAt: -1, _id: 1 },
  // Events of all plants; those of deleted plants are skipped without being read.
  all: { userId: 1, occurredAt: -1, _id: 1, plantId: 1 },
  // Events of all plants and a type.
  type: { userId: 1, type: 1, occurredAt: -1, _id: 1, plantId: 1 },
  // Events of all plants in the order in which they were logged.
  logged: { userId: 1, createdAt: -1, _id: 1 },
} as const;

/** A member as they were; the record of the member may be gone. */
const AUTHOR = new Schema(
  { id: { type: String }, name: { type: String, required: true } },
  { _id: false, id: false },
);

/** The quota of events, deleted ones included. */
export const EVENT_QUOTA = 'events';

export const eventModel = accountModel<EventDocument>(
  'Event',
  new Schema(
    {
      ...event.paths,
      deletedAt: { type: Date },
      scheduleId: { type: IdType },
      by: { type: AUTHOR },
      photos: { type: [{ _id: false, photoId: { type: IdType, required: true } }] },
    },
    { collection: 'events' },
  )
    .index(LIVE_INDEXES.plant, AMONG_LIVE)
    .index(LIVE_INDEXES.plantType, AMONG_LIVE)
    .index(LIVE_INDEXES.all, AMONG_LIVE)
    .index(LIVE_INDEXES.type, AMONG_LIVE)
    .index(LIVE_INDEXES.logged, AMONG_LIVE)
    // The events that show a photo.
    .index({ userId: 1, 'photos.photoId': 1, revision: 1, _id: 1 }, AMONG_LIVE)
    // The events for a schedule, deleted ones included, and the latest of them.
    .index(
      { userId: 1, scheduleId: 1, occurredAt: -1, _id: -1 },
      { partialFilterExpression: { scheduleId: { $exists: true } } },
    )
    // The number of events of an account, deleted ones included.
    .index({ userId: 1 }),
  { tracked: 'event', softlyDeleted: true, quota: EVENT_QUOTA },
);

/** A deleted plant whose events are not all marked as deleted. */
interface DeletedPlantDocument {
  _id: StoredId;
  userId: string;
  removedAt: Date;
}

export const deletedPlantModel = accountModel<DeletedPlantDocument>(
  'DeletedPlant',
  new Schema(
    {
      _id: { type: IdType, required: true },
      userId: { type: String, required: true },
      removedAt: { type: Date, required: true },
    },
    // These names are those of earlier versions.
    { collection: 'removedPlants' },
  )
    // The deleted plants of an account that totals still count.
    .index({ userId: 1 }),
);
