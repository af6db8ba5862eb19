import type { Logger } from 'pino';

import { mayRetry, wasEnded } from '../../data/mongodb/errors';
import { ApiError, internalError, serviceUnavailable } from '../../core/errors';

/** Returns the error response to a failure, and logs what operators need to know. */
export function toClientError(error: unknown, log: Logger): ApiError {
  if (error instanceof ApiError) {
    // The log line of the request already says that the service is unavailable.
    if (error.status >= 500 && error.kind !== serviceUnavailable) {
      log.error({ err: error.cause ?? error }, error.message);
    }
    return error;
  }
  if (mayRetry(error) || wasEnded(error)) {
    // `MongoHealth` logs each outage once.
    log.debug({ err: error }, 'The database is unavailable, or took too long');
    return serviceUnavailable.error();
  }
  log.error({ err: error }, 'A request failed unexpectedly');
  return internalError.error();
}
