import { dayNumber } from '../../../src/core/time';
import { changeInChunks } from '../../../src/data/schema/chunks';
import type { Migration } from '../../../src/data/schema/migration';
import { DayCounts } from '../derived/day-counts';
import { lengthOf, runsOf } from '../derived/runs';
import { ALL_MONTHS, type CareMonthDocument } from '../model';

/** Accounts changed at a time. */
const CHUNK = 100;

/**
 * Adds beside the months of an account what they add up to, which had a collection of its own, and
 * the runs of its waterings, which the first release did not have.
 */
export const totals: Migration = {
  name: '0001-totals',
  besideOlder: false,
  run: async (run) => {
    const months = run.collection('careMonths');
    const runs = run.collection('wateringRuns');
    // Where they are new they have no index yet, and each would be looked for among all of them.
    await runs.createIndex({ userId: 1, first: 1 }, { unique: true }, {});
    const change = async (userId: string): Promise<void> => {
      const counts = new DayCounts();
      const stored = months.find<CareMonthDocument>({ userId, month: { $ne: ALL_MONTHS } });
      for await (const month of stored) counts.addMonth(month);
      const updates = runsOf(counts.watered().map(dayNumber)).map((each) => ({
        updateOne: {
          filter: { userId, first: each.first },
          update: { $set: { last: each.last, days: lengthOf(each) } },
          upsert: true,
        },
      }));
      if (updates.length > 0) await runs.bulkWrite(updates);
      const days: CareMonthDocument['days'] = {};
      for (const { day, type, count } of counts.byWeekday().entries()) {
        days[day] = { ...days[day], [type]: count };
      }
      if (Object.keys(days).length === 0) return;
      // One that is there is of a server that was started meanwhile, and right.
      const all = { userId, month: ALL_MONTHS };
      await months.updateOne(all, { $setOnInsert: { days } }, { upsert: true });
    };
    await changeInChunks(run, run.collection('accounts'), { size: CHUNK }, (chunk) =>
      Promise.all(chunk.map(({ _id }) => change(String(_id)))),
    );
    await run.collection('careTotals').drop();
  },
};
