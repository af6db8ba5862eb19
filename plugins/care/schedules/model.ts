import { Schema } from 'mongoose';

import { accountModel } from '../../../src/data/models';
import { schedule, type ScheduleDocument } from './schema';

const schema = new Schema(schedule.paths, { collection: 'schedules' })
  // Those of a plant, and those of all plants.
  .index({ userId: 1, plantId: 1, createdAt: 1, _id: 1 });

export const scheduleModel = accountModel<ScheduleDocument>('Schedule', schema, {
  tracked: 'schedule',
});
