import type { Model, mongo } from 'mongoose';

import type { AccountDocument } from './model';

/** How long one read waits for a change. */
const WAIT_MS = 500;
/** Codes of MongoDB for a position that is not among the changes that it has kept. */
const LOST = [260, 280, 286];

/** Where to begin to read changes. */
export type RevisionPosition =
  | { startAtOperationTime: mongo.Timestamp }
  | { resumeAfter: mongo.ResumeToken };

/** The accounts whose revision changes, in the order of their writes, from MongoDB's own log of changes. */
export class RevisionStream {
  readonly #stream: mongo.ChangeStream;

  /** @param position now, if left out */
  constructor(accounts: Model<AccountDocument>, position?: RevisionPosition) {
    const isWrite = {
      operationType: 'update',
      'updateDescription.updatedFields.revision': { $exists: true },
    };
    const pipeline = [{ $match: isWrite }, { $project: { operationType: 1, documentKey: 1 } }];
    const options = { ...position, maxAwaitTimeMS: WAIT_MS };
    this.#stream = accounts.collection.watch(pipeline, options);
  }

  /** Waits for up to a second until accounts change; returns their ids, at most `limit`. */
  async next(limit: number): Promise<Set<string>> {
    const ids = new Set<string>();
    const begun = performance.now();
    while (ids.size < limit) {
      const change = await this.#stream.tryNext();
      if (change?.operationType === 'update') ids.add(String(change.documentKey._id));
      if (!change || performance.now() - begun > WAIT_MS) break;
    }
    return ids;
  }

  /** The position after what {@link next} has returned. */
  get position(): RevisionPosition {
    return { resumeAfter: this.#stream.resumeToken };
  }

  async close(): Promise<void> {
    await this.#stream.close();
  }
}

/** Whether the changes after a position are not known any more, so that any account may have changed. */
export function isLost(error: unknown): boolean {
  return error instanceof Error && 'code' in error && LOST.includes(Number(error.code));
}
