import { Schema } from 'mongoose';

import { accountModel } from '../../../src/data/model/models';
import { LIST_ORDER } from '../../../src/data/model/resource';
import { schedule, type ScheduleDocument } from './schema';

/** Orders schedules by plant, oldest first. */
export const BY_PLANT = { plantId: 1, ...LIST_ORDER } as const;

const schema = new Schema(schedule.paths, { collection: 'schedules' })
  // The schedules of one plant, and of all plants.
  .index({ userId: 1, ...BY_PLANT });

export const scheduleModel = accountModel<ScheduleDocument>('Schedule', schema, {
  tracked: 'schedule',
});
