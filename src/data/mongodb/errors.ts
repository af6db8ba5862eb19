import { mongo } from 'mongoose';

import { OperatorError } from '../../core/errors';
import { codeOf } from '../../core/values';

const SOCKET_ERRORS = new Set<unknown>(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT']);

/** Error codes of a server that is stopping, has just started or is no longer the primary. */
const NOT_SERVING = [91, 189, 10107, 11600, 11602, 13435, 13436];
/** Error codes of a router that cannot reach a shard. */
const NOT_REACHED = [6, 7, 89, 133, 9001];
const UNAVAILABLE = new Set<unknown>([...NOT_SERVING, ...NOT_REACHED]);

/** Whether an error means that MongoDB is unreachable. */
export function isConnectionError(error: unknown): boolean {
  if (
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    error instanceof mongo.MongoNotConnectedError ||
    error instanceof mongo.MongoTopologyClosedError ||
    // An invalid message: the driver closes the connection.
    error instanceof mongo.MongoParseError
  ) {
    return true;
  }
  if (error instanceof mongo.MongoBulkWriteError && isConnectionError(error.errorResponse)) {
    // Errors of bulk writes are wrapped.
    return true;
  }
  if (error instanceof mongo.MongoServerError && UNAVAILABLE.has(error.code)) return true;
  if (error instanceof mongo.MongoError && error.hasErrorLabel('RetryableWriteError')) return true;
  return error instanceof Error && 'code' in error && SOCKET_ERRORS.has(error.code);
}

/** Error codes of commands, transactions and cursors that MongoDB ended. */
const ENDED = new Set<unknown>([43, 50, 175, 237, 262, 290, 11601]);

/** Whether MongoDB ended a command, for example because it took too long. */
export function wasEnded(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && ENDED.has(error.code);
}

/** Whether a transaction that failed before its commit may be retried. */
export function mayRetry(error: unknown): boolean {
  return hasLabel(error, 'TransientTransactionError') || isConnectionError(error);
}

/** Whether the outcome of a commit is unknown, as after a network error. */
export function isOutcomeUnknown(error: unknown): boolean {
  // The driver may have failed after it sent the commit.
  if (!(error instanceof mongo.MongoError)) return true;
  if (hasLabel(error, 'UnknownTransactionCommitResult')) return true;
  return !hasLabel(error, 'TransientTransactionError') && isConnectionError(error);
}

const DUPLICATE_KEY = 11000;

export function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === DUPLICATE_KEY;
}

const UNAUTHORIZED = 13;

/** Explains missing rights on a database; returns other errors unchanged. */
export function explainRights(error: unknown, database: string): unknown {
  if (!(error instanceof mongo.MongoServerError) || error.code !== UNAUTHORIZED) return error;
  return new OperatorError(
    `The MongoDB of MONGODB_URI denies access: its user needs the role readWrite on the database ${database}.`,
  );
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof mongo.MongoError && error.hasErrorLabel(label);
}
