import { ErrorCode } from '../../../src/core/errors';

/** The most schedules of a plant. */
export const MAX_SCHEDULES = 20;

export const scheduleLimitReached = new ErrorCode(
  'schedule_limit_reached',
  403,
  `A plant may have at most ${MAX_SCHEDULES} schedules.`,
  'Only delete_schedule makes room.',
);
