import { addDays, datedMoment } from '../../../src/data/schema/days';

/** Gives the last care of plants its days, which are those that the events have got. */
export const lastCareDays = addDays('0005-last-care-days', 'plants', [
  datedMoment('lastWatered', 'lastWatering'),
  datedMoment('lastFertilized', 'lastFertilizing'),
]);
