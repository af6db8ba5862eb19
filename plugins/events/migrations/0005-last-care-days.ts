import { addDays } from '../../../src/data/schema/days';

/** Gives the last care of plants its days, which are those that the events have got. */
export const lastCareDays = addDays('0005-last-care-days', 'plants', [
  {
    moment: 'lastWatered',
    dated: 'lastWatering',
    update: (on) => [{ $set: { lastWatering: { at: '$lastWatered', on } } }],
  },
  {
    moment: 'lastFertilized',
    dated: 'lastFertilizing',
    update: (on) => [{ $set: { lastFertilizing: { at: '$lastFertilized', on } } }],
  },
]);
