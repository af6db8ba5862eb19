import { addDays } from '../../../src/data/schema/days';

/** Gives the first and last measurements of growth their days. */
export const growthDays = addDays('0002-growth-days', 'growth', [
  {
    moment: 'firstAt',
    dated: 'first',
    update: (on) => [{ $set: { first: { at: '$firstAt', on } } }, { $unset: 'firstAt' }],
  },
  {
    moment: 'lastAt',
    dated: 'last',
    update: (on) => [{ $set: { last: { at: '$lastAt', on } } }, { $unset: 'lastAt' }],
  },
]);
