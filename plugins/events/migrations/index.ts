import { dateMoments, datedMoment, addRevisions } from '../../../src/data/schema/migrating';
import { lastFertilized } from './0002-last-fertilized';
import { photosOfPlants } from './0003-photos-of-plants';

/** Earlier releases stored no revisions of events, no last fertilizing of plants, and no calendar days. */
export const migrations = [
  addRevisions('0001-revisions', 'events'),
  lastFertilized,
  photosOfPlants,
  dateMoments('0004-event-days', 'events', [
    {
      moment: 'occurredAt',
      dated: 'occurredOn',
      update: (occurredOn) => [{ $set: { occurredOn } }],
    },
  ]),
  // After the days of events, since both must agree.
  dateMoments('0005-last-care-days', 'plants', [
    datedMoment('lastWatered', 'lastWatering'),
    datedMoment('lastFertilized', 'lastFertilizing'),
  ]),
];
