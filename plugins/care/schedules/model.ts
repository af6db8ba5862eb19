import { Schema } from 'mongoose';

import { accountModel } from '../../../src/data/model/models';
import { LIST_ORDER } from '../../../src/data/model/resource';
import { schedule, type ScheduleDocument } from './schema';

/** Those of all plants by plant, each plant's oldest first. */
export const BY_PLANT = { plantId: 1, ...LIST_ORDER } as const;

const schema = new Schema(schedule.paths, { collection: 'schedules' })
  // Those of a plant, and those of all plants.
  .index({ userId: 1, ...BY_PLANT });

export const scheduleModel = accountModel<ScheduleDocument>('Schedule', schema, {
  tracked: 'schedule',
});
