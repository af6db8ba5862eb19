import { ErrorCode, featureNotAvailable, recordNotFound } from '../../src/core/errors';

export const eventNotFound = new ErrorCode(
  'event_not_found',
  404,
  'Event not found.',
  'Call search_events for the ids of events.',
);
/** Declared here because events name schedules. */
export const scheduleNotFound = recordNotFound(
  'schedule',
  "Call list_schedules for the ids of a plant's schedules.",
);
/** For a field of a request that names a schedule. */
export const unknownSchedule = scheduleNotFound.at(
  400,
  'A field names a schedule that the plant does not have.',
);
/** For restoring: lists do not show deleted events. */
export const eventGone = eventNotFound.at(
  404,
  'Event not found, or its plant was deleted.',
  'Use the id that the event had when it was logged or deleted.',
);
/** For a field of a request that names an event. */
export const unknownEvent = eventNotFound.at(400, 'A field names an event that does not exist.');
export const eventLimitReached = featureNotAvailable.at(
  403,
  'Event limit of the tier reached, deleted events included.',
  'No call helps, since deleted events count as well. The person needs another tier.',
);
