import type { mongo } from 'mongoose';

import { type Calendar, dayNumber } from '../../../src/core/time';
import { changeInChunks, nextRevision, calendarsOf } from '../../../src/data/schema/migrating';
import type { Migration } from '../../../src/data/schema/migration';

/** Plants read by one command: few enough that it is quick. */
const CHUNK = 1000;

const WATERING = {
  everyDays: 'wateringFrequencyDays',
  lastDone: 'lastWatered',
  until: 'wateringSnoozedUntil',
  setAt: 'wateringSnoozedAt',
} as const;
const FERTILIZING = {
  everyDays: 'fertilizerFrequencyDays',
  lastDone: 'lastFertilized',
  until: 'fertilizerSnoozedUntil',
  setAt: 'fertilizerSnoozedAt',
} as const;
type Care = typeof WATERING | typeof FERTILIZING;

type SnoozedPlant = Record<Care['everyDays'], number | null> &
  Record<Care['until'], string | null> &
  Record<Care['lastDone' | 'setAt'], Date | null> & {
    _id: mongo.UUID;
    userId: string;
    createdAt: Date;
  };

/**
 * Adds to snoozes when they were set. Earlier versions deleted a snooze when care was logged, so every
 * stored one still stands, as if it were set now. A snooze without a frequency is deleted, and so is one
 * for a day before care is due, which had no effect.
 */
export const snoozes: Migration = {
  name: '0002-snoozes',
  besideOlder: false,
  run: async (run) => {
    const plants = run.collection('plants');
    const setAt = new Date();
    await changeInChunks(run, plants, { size: CHUNK }, async (_chunk, ids) => {
      const snoozed = await plants
        .find<SnoozedPlant>({ _id: ids, $or: [WATERING, FERTILIZING].map(isWithoutMoment) })
        .toArray();
      const calendarFor = await calendarsOf(
        run,
        snoozed.map(({ userId }) => userId),
      );
      for (const plant of snoozed) {
        const { _id, userId } = plant;
        const dayOf = calendarFor(userId);
        const revision = await nextRevision(run, userId);
        const $set = {
          ...migrated(plant, WATERING, setAt, dayOf),
          ...migrated(plant, FERTILIZING, setAt, dayOf),
          revision,
        };
        await plants.updateOne({ _id }, { $set });
      }
    });
  },
};

/** A snooze that this migration has yet to reach. */
function isWithoutMoment({ until, setAt }: Care): object {
  return { [until]: { $type: 'string' }, [setAt]: null };
}

function migrated(plant: SnoozedPlant, care: Care, setAt: Date, dayOf: Calendar): object {
  const until = plant[care.until];
  if (!until || plant[care.setAt]) return {};
  const everyDays = plant[care.everyDays];
  const lastDone = plant[care.lastDone];
  const regular = lastDone
    ? dayNumber(dayOf(lastDone)) + (everyDays ?? 0)
    : dayNumber(dayOf(plant.createdAt));
  const hasEffect = everyDays !== null && dayNumber(until) >= regular;
  return { [care.until]: hasEffect ? until : null, [care.setAt]: hasEffect ? setAt : null };
}
