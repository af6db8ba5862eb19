import { ErrorCode } from '../../../src/core/errors';

/** How many schedules a plant may have. */
export const MAX_SCHEDULES = 20;

export const scheduleLimitReached = new ErrorCode(
  'schedule_limit_reached',
  403,
  `A plant may have at most ${MAX_SCHEDULES} schedules.`,
  'Only delete_schedule makes room.',
);
