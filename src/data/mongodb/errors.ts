import { mongo } from 'mongoose';

import { OperatorError } from '../../core/operator-error';
import { codeOf } from '../../core/values';

const SOCKET_ERRORS = new Set<unknown>(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT']);

/** What a server answers that is stopping, has just started or is no longer the primary. */
const NOT_SERVING = [91, 189, 10107, 11600, 11602, 13435, 13436];
/** What a router of a sharded cluster answers that cannot reach a shard. */
const NOT_REACHED = [6, 7, 89, 133, 9001];
const UNAVAILABLE = new Set<unknown>([...NOT_SERVING, ...NOT_REACHED]);

/** Whether an error says that MongoDB could not be reached, rather than what it answered. */
export function isConnectionError(error: unknown): boolean {
  if (
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    error instanceof mongo.MongoNotConnectedError ||
    error instanceof mongo.MongoTopologyClosedError ||
    // What came is not MongoDB's protocol: the driver has closed the connection.
    error instanceof mongo.MongoParseError
  ) {
    return true;
  }
  if (error instanceof mongo.MongoBulkWriteError && isConnectionError(error.errorResponse)) {
    // Whatever breaks a bulk write comes wrapped in an error that is not of its kind.
    return true;
  }
  if (error instanceof mongo.MongoServerError && UNAVAILABLE.has(error.code)) return true;
  if (error instanceof mongo.MongoError && error.hasErrorLabel('RetryableWriteError')) return true;
  return error instanceof Error && 'code' in error && SOCKET_ERRORS.has(error.code);
}

/** What MongoDB answers that ended a command, or the transaction or cursor that it belongs to. */
const ENDED = new Set<unknown>([43, 50, 175, 237, 262, 290, 11601]);

/** Whether MongoDB ended a command before it was done, as when it took too long. */
export function wasEnded(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && ENDED.has(error.code);
}

/** Whether a transaction that failed before its commit may be tried again as a whole. */
export function mayRetry(error: unknown): boolean {
  return hasLabel(error, 'TransientTransactionError') || isConnectionError(error);
}

/** Whether nothing is known of what became of a commit: bare network errors say nothing of it. */
export function isOutcomeUnknown(error: unknown): boolean {
  // Whatever made the driver itself fail may have come after the commit was sent.
  if (!(error instanceof mongo.MongoError)) return true;
  if (hasLabel(error, 'UnknownTransactionCommitResult')) return true;
  return !hasLabel(error, 'TransientTransactionError') && isConnectionError(error);
}

const DUPLICATE_KEY = 11000;

/** Whether a write failed because a unique index has its key already. */
export function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === DUPLICATE_KEY;
}

const UNAUTHORIZED = 13;

/** Says that MongoDB lets its user do less than the program has to do. */
export class RightsError extends OperatorError {}

/** The sentence for missing rights on a database; any other error as it is. */
export function explainRights(error: unknown, database: string): unknown {
  if (!(error instanceof mongo.MongoServerError) || error.code !== UNAUTHORIZED) return error;
  return new RightsError(
    `The MongoDB of MONGODB_URI does not let its user work: give the user the role readWrite on the database ${database}.`,
  );
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof mongo.MongoError && error.hasErrorLabel(label);
}
