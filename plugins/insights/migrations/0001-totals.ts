import { dayNumber } from '../../../src/core/time';
import { changeInChunks } from '../../../src/data/schema/chunks';
import type { Migration } from '../../../src/data/schema/migration';
import { addTo } from '../derived/care-months';
import { byWeekday, DayCounts } from '../derived/day-counts';
import { lengthOf, runsOf } from '../derived/runs';
import { ALL_MONTHS, type CareMonthDocument } from '../model';

/** Accounts changed at a time. */
const CHUNK = 100;

/**
 * Adds beside the months of an account what they add up to, which had a collection of its own, and
 * the runs of its waterings, where it has not read insights since they are stored.
 */
export const totals: Migration = {
  name: '0001-totals',
  run: async (run) => {
    const months = run.collection('careMonths');
    const runs = run.collection('wateringRuns');
    const change = async (userId: string): Promise<void> => {
      const counts = new DayCounts();
      const stored = months.find<CareMonthDocument>({ userId, month: { $ne: ALL_MONTHS } });
      for await (const month of stored) addTo(counts, month);
      const days: CareMonthDocument['days'] = {};
      for (const { date, type, count } of byWeekday(counts).entries()) {
        days[date] = { ...days[date], [type]: count };
      }
      if (Object.keys(days).length === 0) return;
      await months.updateOne({ userId, month: ALL_MONTHS }, { $set: { days } }, { upsert: true });
      if (await runs.findOne({ userId })) return;
      const updates = runsOf(counts.watered().map(dayNumber)).map((each) => ({
        updateOne: {
          filter: { userId, first: each.first },
          update: { $set: { last: each.last, days: lengthOf(each) } },
          upsert: true,
        },
      }));
      if (updates.length > 0) await runs.bulkWrite(updates);
    };
    await changeInChunks(run, run.collection('accounts'), { size: CHUNK }, (chunk) =>
      Promise.all(chunk.map(({ _id }) => change(String(_id)))),
    );
    await run.collection('careTotals').drop();
  },
};
