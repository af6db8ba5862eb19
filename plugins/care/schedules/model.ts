import { Schema } from 'mongoose';

import { ErrorCode } from '../../../src/core/errors';
import { accountModel } from '../../../src/data/model/models';
import { LIST_ORDER } from '../../../src/data/model/resource';
import { schedule, type ScheduleDocument } from './schema';

/** The most schedules of a plant. */
export const MAX_SCHEDULES = 20;

export const scheduleLimitReached = new ErrorCode(
  'schedule_limit_reached',
  403,
  `A plant may have at most ${MAX_SCHEDULES} schedules.`,
  'Only delete_schedule makes room.',
);

/** Orders schedules by plant, oldest first. */
export const BY_PLANT = { plantId: 1, ...LIST_ORDER } as const;

const schema = new Schema(
  { ...schedule.paths, acts: { type: [Schema.Types.Mixed], default: undefined } },
  { collection: 'schedules' },
)
  // The schedules of one plant, and of all plants.
  .index({ userId: 1, ...BY_PLANT });

export const scheduleModel = accountModel<ScheduleDocument>('Schedule', schema, {
  tracked: 'schedule',
});
