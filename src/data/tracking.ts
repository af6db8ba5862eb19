import type { StoredId } from '../core/ids';
import { type DeletionDocument, everythingDeleted, newDeletion } from './deletions';
import type { Tenant, SharedTenant } from './models';

/** Where deletions are recorded. */
interface Deletions {
  insertBulk(tenant: Tenant, documents: readonly DeletionDocument[]): Promise<void>;
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
  inserted<T extends object>(tenant: SharedTenant, record: T): T {
    return { ...record, revision: writeOf(tenant).revision };
  }

  /** An update as a write makes it. */
  updated(tenant: SharedTenant, update: { readonly $set?: object | undefined }): object {
    return { ...update, $set: { ...update.$set, revision: writeOf(tenant).revision } };
  }

  /** Records deletions of records, which of a tracked model all have a UUID. */
  async deleted(tenant: SharedTenant, ids: readonly StoredId[]): Promise<void> {
    if (ids.length === 0) return;
    const write = writeOf(tenant);
    const deletions = ids.map((id) => newDeletion({ ...write, kind: this.#kind, id }));
    await this.#deletions.insertBulk({ ...tenant, ...write }, deletions);
  }

  /** Records that a copy must be begun anew. */
  restarted(tenant: SharedTenant): Promise<void> {
    const write = writeOf(tenant);
    return this.#deletions.insertBulk({ ...tenant, ...write }, [everythingDeleted(write)]);
  }
}

/** @throws Error outside of a write: what is tracked changes within transactions only */
function writeOf(tenant: SharedTenant & { userId?: string }): { userId: string; revision: number } {
  const { userId, revision } = tenant;
  if (userId === undefined || revision === undefined) {
    throw new Error('A tracked record is written in a transaction of its account.');
  }
  return { userId, revision };
}
