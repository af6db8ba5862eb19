import { setTimeout as sleep } from 'node:timers/promises';

import type { ClientSession } from 'mongoose';

import { ApiError, serviceUnavailable } from '../../core/errors';
import { isOutcomeUnknown } from '../mongodb/errors';

/** How long to wait before the outcome of a commit is asked for again. */
const RETRY_MS = 50;

/**
 * Commits. While the answer is lost on the way it asks again: MongoDB knows the transaction by its
 * number and answers what became of it, even after a restart.
 *
 * @throws CommitUnknownError when the outcome is still unknown once `isOver`
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

/** A write was not done in time; a 503 of a handler's own is none of these. */
export class WriteTimeout extends ApiError {
  constructor(cause?: unknown) {
    super(serviceUnavailable, 'The database did not confirm the write in time; try again shortly.');
    this.cause = cause;
  }
}

/** The outcome of a commit is unknown, so its writes must not run again by themselves. */
export class CommitUnknownError extends WriteTimeout {}
