import type { StoredId } from '../core/ids';
import { type DeletionDocument, everythingDeleted, newDeletion } from './deletions';
import type { AccountScope, SharedScope } from './models';

/** Where deletions are recorded. */
interface Deletions {
  insertBulk(scope: AccountScope, documents: readonly DeletionDocument[]): Promise<void>;
}

/** Tracks the changes of a model's records: each carries the revision of its last change. */
export class Tracking {
  readonly #kind: string;
  readonly #deletions: Deletions;

  /** @param kind what a deletion calls such a record */
  constructor(kind: string, deletions: Deletions) {
    this.#kind = kind;
    this.#deletions = deletions;
  }

  /** A record as it is inserted by a write. */
  inserted<T extends object>(scope: SharedScope, record: T): T {
    return { ...record, revision: writeOf(scope).revision };
  }

  /** An update as a write makes it. */
  updated(scope: SharedScope, update: { readonly $set?: object | undefined }): object {
    return { ...update, $set: { ...update.$set, revision: writeOf(scope).revision } };
  }

  /** Records deletions of records, which of a tracked model all have a UUID. */
  async deleted(scope: SharedScope, ids: readonly StoredId[]): Promise<void> {
    if (ids.length === 0) return;
    const write = writeOf(scope);
    const deletions = ids.map((id) => newDeletion({ ...write, kind: this.#kind, id }));
    await this.#deletions.insertBulk({ ...scope, ...write }, deletions);
  }

  /** Records that a copy must be begun anew. */
  restarted(scope: SharedScope): Promise<void> {
    const write = writeOf(scope);
    return this.#deletions.insertBulk({ ...scope, ...write }, [everythingDeleted(write)]);
  }
}

/** @throws Error outside of a write: what is tracked changes within transactions only */
function writeOf(scope: SharedScope & { userId?: string }): { userId: string; revision: number } {
  const { userId, revision } = scope;
  if (userId === undefined || revision === undefined) {
    throw new Error('A tracked record is written in a transaction of its account.');
  }
  return { userId, revision };
}
