import { addDays, datedMoment } from '../../../src/data/schema/days';
import { addRevisions } from '../../../src/data/schema/revisions';
import { lastFertilized } from './0002-last-fertilized';
import { photosOfPlants } from './0003-photos-of-plants';

/** Events had no revisions and plants no last feeding; days were counted by the zone of the moment. */
export const migrations = [
  addRevisions('0001-revisions', 'events'),
  lastFertilized,
  photosOfPlants,
  addDays('0004-event-days', 'events', [
    {
      moment: 'occurredAt',
      dated: 'occurredOn',
      update: (occurredOn) => [{ $set: { occurredOn } }],
    },
  ]),
  // The days that the events have got.
  addDays('0005-last-care-days', 'plants', [
    datedMoment('lastWatered', 'lastWatering'),
    datedMoment('lastFertilized', 'lastFertilizing'),
  ]),
];
