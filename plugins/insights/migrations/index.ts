import { changeInChunks, dateMoments, datedMoment } from '../../../src/data/schema/migrating';
import type { Migration } from '../../../src/data/schema/migration';
import { CareCounts, countsOf } from '../care-days';
import { ALL_MONTHS, type CareMonthDocument } from '../model';

/** Accounts changed at a time. */
const CHUNK = 100;

/** Adds the totals of all months to the months of an account; they had a collection of their own. */
const totals: Migration = {
  name: '0001-totals',
  besideOlder: false,
  run: async (run) => {
    const months = run.collection('careMonths');
    const change = async (userId: string): Promise<void> => {
      const counts = new CareCounts();
      const stored = months.find<CareMonthDocument>({ userId, month: { $ne: ALL_MONTHS } });
      for await (const document of stored) {
        for (const { month, day, type, count } of countsOf(document)) {
          counts.addEvents(`${month}-${day}`, type, count);
        }
      }
      const days: CareMonthDocument['days'] = {};
      for (const { month, day, type, count } of counts.entries()) {
        if (month === ALL_MONTHS) days[day] = { ...days[day], [type]: count };
      }
      if (Object.keys(days).length === 0) return;
      // If it exists, a server that was started meanwhile has written it.
      const all = { userId, month: ALL_MONTHS };
      await months.updateOne(all, { $setOnInsert: { days } }, { upsert: true });
    };
    await changeInChunks(run, run.collection('accounts'), { size: CHUNK }, (chunk) =>
      Promise.all(chunk.map(({ _id }) => change(String(_id)))),
    );
    await run.collection('careTotals').drop();
  },
};

/** Adds days to the first and last measurements of growth. */
const growthDays = dateMoments('0002-growth-days', 'growth', [
  datedMoment('firstAt', 'first', { isReplaced: true }),
  datedMoment('lastAt', 'last', { isReplaced: true }),
]);

/** Drops the stored runs of waterings, which are now computed for each read. */
const computedRuns: Migration = {
  name: '0003-computed-runs',
  besideOlder: false,
  run: async (run) => {
    await run.collection('wateringRuns').drop();
  },
};

export const migrations = [totals, growthDays, computedRuns];
