import { setTimeout as sleep } from 'node:timers/promises';

import type { ClientSession } from 'mongoose';

import { ApiError, serviceUnavailable } from '../../core/errors';
import { isOutcomeUnknown } from '../mongodb/errors';

/** How long to wait before a commit is retried. */
const RETRY_MS = 50;

/**
 * Commits, and retries while the outcome is unknown: MongoDB identifies the transaction by its number,
 * even after a restart, and returns what became of it.
 *
 * @throws CommitUnknownError if the outcome is still unknown once `isOver`
 */
export async function commitUntil(session: ClientSession, isOver: () => boolean): Promise<void> {
  for (;;) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error;
      if (isOver()) throw new CommitUnknownError(error);
      await sleep(RETRY_MS);
    }
  }
}

/** A write was not confirmed in time. */
export class WriteTimeout extends ApiError {
  constructor(cause?: unknown) {
    super(serviceUnavailable, 'The database did not confirm the write in time; try again shortly.');
    this.cause = cause;
  }
}

/** The outcome of a commit is unknown, so its writes must not be retried. */
export class CommitUnknownError extends WriteTimeout {}
