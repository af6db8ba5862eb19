import { setTimeout as sleep } from 'node:timers/promises';

import type { ClientSession } from 'mongoose';

import { ApiError, serviceUnavailable } from '../core/errors';
import { isOutcomeUnknown } from './mongodb-errors';

/** How long to wait before the outcome of a commit is asked for again. */
const RETRY_MS = 50;

/**
 * Commits, and while the answer is lost on the way asks again: the server knows the transaction by
 * its number and answers what became of it, also after it was killed and came back.
 *
 * @throws Unconfirmed when it is still not known once `isOver`
 */
export async function commitUntil(session: ClientSession, isOver: () => boolean): Promise<void> {
  for (;;) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error;
      if (isOver()) throw new Unconfirmed(error);
      await sleep(RETRY_MS);
    }
  }
}

/** It was not learned in time whether a commit was done: what is in it must not be run again. */
export class Unconfirmed extends Error {
  constructor(cause?: unknown) {
    super('The outcome of a commit is not known.', { cause });
  }
}

/** The error that a caller gets for a failure. */
export function callerError(error: unknown): unknown {
  return error instanceof Unconfirmed ? new WriteTimeout(error.cause) : error;
}

/** A write was not done in time; a 503 of a handler's own is none of these. */
export class WriteTimeout extends ApiError {
  constructor(cause: unknown) {
    super(serviceUnavailable, 'The database did not confirm the write in time; try again shortly.');
    this.cause = cause;
  }
}
