import type { mongo } from 'mongoose';

import { type Calendar, dayNumber } from '../../../src/core/time';
import { changeInChunks } from '../../../src/data/schema/chunks';
import { calendarsOf } from '../../../src/data/schema/days';
import type { Migration } from '../../../src/data/schema/migration';
import { nextRevision } from '../../../src/data/schema/revisions';
import { RECURRING_CARE, RECURRING_TYPES, type RecurringCare } from '../schema';
import { type RecurringFields, snoozeFields } from '../snoozes';

/** Plants looked at by one command: few enough for one that may not take long. */
const CHUNK = 1000;

type SnoozedPlant = RecurringFields & {
  _id: mongo.UUID;
  userId: string;
  createdAt: Date;
};

/**
 * Gives snoozes the moment at which they were set. What earlier versions stored stood still, since they
 * forgot a snooze when care was logged: it is as if it were set now. One of a plant without that
 * frequency goes, and so does one for a day before care is due anyway, which had no effect there.
 */
export const snoozes: Migration = {
  name: '0002-snoozes',
  besideOlder: false,
  run: async (run) => {
    const plants = run.collection('plants');
    const setAt = new Date();
    await changeInChunks(run, plants, { size: CHUNK }, async (_chunk, ids) => {
      const snoozed = await plants
        .find<SnoozedPlant>({ _id: ids, $or: RECURRING_TYPES.map(isWithoutMoment) })
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
          ...migrated(plant, 'watered', setAt, dayOf),
          ...migrated(plant, 'fertilized', setAt, dayOf),
          revision,
        };
        await plants.updateOne({ _id }, { $set });
      }
    });
  },
};

/** A snooze that this migration has yet to reach. */
function isWithoutMoment(type: RecurringCare): object {
  const { snoozedUntil, snoozedAt } = RECURRING_CARE[type];
  return { [snoozedUntil]: { $type: 'string' }, [snoozedAt]: null };
}

function migrated(
  plant: SnoozedPlant,
  type: RecurringCare,
  setAt: Date,
  dayOf: Calendar,
): Partial<RecurringFields> {
  const fields = RECURRING_CARE[type];
  const until = plant[fields.snoozedUntil];
  if (!until || plant[fields.snoozedAt]) return {};
  const everyDays = plant[fields.everyDays];
  const lastDone = plant[fields.lastDone];
  const regular = lastDone
    ? dayNumber(dayOf(lastDone)) + (everyDays ?? 0)
    : dayNumber(dayOf(plant.createdAt));
  const hasEffect = everyDays !== null && dayNumber(until) >= regular;
  return snoozeFields(type, hasEffect ? { until, setAt } : null);
}
