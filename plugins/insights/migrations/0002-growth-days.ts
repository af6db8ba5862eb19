import { addDays, datedMoment } from '../../../src/data/schema/days';

/** Gives the first and last measurements of growth their days. */
export const growthDays = addDays('0002-growth-days', 'growth', [
  datedMoment('firstAt', 'first', { isReplaced: true }),
  datedMoment('lastAt', 'last', { isReplaced: true }),
]);
