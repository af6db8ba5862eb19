import type { Logger } from 'pino';

import { mayRetry, wasEnded } from '../../data/mongodb/errors';
import { ApiError, internalError, serviceUnavailable } from '../../core/errors';

/** The error that a caller gets for a failure; what concerns operators is logged. */
export function toClientError(error: unknown, log: Logger): ApiError {
  if (error instanceof ApiError) {
    // That the service cannot answer now says the line of the request; a stack says nothing more.
    if (error.status >= 500 && error.kind !== serviceUnavailable) {
      log.error({ err: error.cause ?? error }, error.message);
    }
    return error;
  }
  if (mayRetry(error) || wasEnded(error)) {
    // Once for an outage is enough (see `MongoHealth`).
    log.debug({ err: error }, 'The database cannot be reached, or did not get done in time');
    return serviceUnavailable.error();
  }
  log.error({ err: error }, 'A request failed unexpectedly');
  return internalError.error();
}
