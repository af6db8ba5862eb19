import { BatchLookup } from '../../core/batch-lookup';
import { idText, type StoredId, toStoredId } from '../../core/ids';
import type { OwnedModel, Tenant } from './owner';

/** Records in a query, which are decoded in one turn of the event loop. */
const MAX_FOUND = 100;
/** Records of a request that are looked up together with those of others. */
const MAX_OF_REQUEST = 20;

interface Owned {
  _id: StoredId;
  userId: string;
}

/**
 * Finds records by id. Concurrent requests, even of different accounts, share one query; each gets only
 * the records of its own account.
 */
export class RecordLookup<T extends Owned> {
  readonly #model: OwnedModel<T>;
  readonly #batches = new BatchLookup<T>((keys) => this.#query(keys), MAX_FOUND);

  constructor(model: OwnedModel<T>) {
    this.#model = model;
  }

  /** The records of an account with the given ids, in no order. */
  async find(tenant: Tenant, ids: readonly StoredId[]): Promise<T[]> {
    const { userId } = tenant;
    const keys = new Set(ids.map((_id) => keyOf({ _id, userId })));
    // Only the session of a transaction sees its writes.
    if (tenant.session || keys.size > MAX_OF_REQUEST) {
      return this.#model.find(withIds(ids)).of(tenant).lean<T[]>();
    }
    const found = await Promise.all([...keys].map((key) => this.#batches.get(key)));
    return found.filter((record) => record !== undefined);
  }

  async #query(keys: readonly string[]): Promise<ReadonlyMap<string, T>> {
    const asked = keys.map(fromKey);
    const [first = '', ...others] = new Set(asked.map(({ userId }) => userId));
    // A query for one account reads one shard only.
    const userId = others.length === 0 ? first : { $in: [first, ...others] };
    const filter = { ...withIds(asked.map(({ _id }) => _id)), userId };
    const found = await this.#model
      .find(filter)
      .acrossAccounts('requests of several accounts come together')
      .lean<T[]>();
    return new Map(found.map((record) => [keyOf(record), record]));
  }
}

function withIds(ids: readonly StoredId[]) {
  return { _id: { $in: [...ids] } };
}

/** A key with the account, so that records of other accounts are not found. */
function keyOf({ _id, userId }: Owned): string {
  return idText(_id) + userId;
}

const UUID_LENGTH = 36;

function fromKey(key: string): Owned {
  return { _id: toStoredId(key.slice(0, UUID_LENGTH)), userId: key.slice(UUID_LENGTH) };
}
