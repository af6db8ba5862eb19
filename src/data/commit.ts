import { setTimeout as sleep } from 'node:timers/promises';

import type { ClientSession } from 'mongoose';

import { ApiError, serviceUnavailable } from '../core/errors';
import { isOutcomeUnknown } from './mongodb-errors';

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
      await sleep(50);
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
  return error instanceof Unconfirmed ? unavailable(error.cause) : error;
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.kind === serviceUnavailable;
}

export function unavailable(cause: unknown): Error {
  const error = serviceUnavailable.error(
    'The database did not confirm the write in time; try again shortly.',
  );
  error.cause = cause;
  return error;
}
