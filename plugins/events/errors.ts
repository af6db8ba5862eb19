import { ErrorCode, featureNotAvailable } from '../../src/core/errors';

export const eventNotFound = new ErrorCode(
  'event_not_found',
  404,
  'There is no event of yours with this id, or it was deleted.',
  "Call list_events with the plant's id for the ids of its events.",
);
export const eventLimitReached = featureNotAvailable.at(
  403,
  'You have logged as many events as your tier allows, deleted ones included.',
  'No call helps: deleted events count as well. The person needs another tier.',
);
