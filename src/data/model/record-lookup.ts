import { BatchLookup } from '../../core/async/batch-lookup';
import { idText, type StoredId, toStoredId } from '../../core/ids';
import type { OwnedModel } from './owner';
import type { Tenant } from './tenant';

/** How many records a query finds: they are decoded in one turn of the event loop. */
const MAX_FOUND = 100;
/** How many a request may look up with those of others; more are found by themselves. */
const MAX_OF_REQUEST = 20;

interface Owned {
  _id: StoredId;
  userId: string;
}

/**
 * Finds records by their ids. Requests that come together, also those of different accounts, find
 * theirs by one query; each gets what is its own account's.
 */
export class RecordLookup<T extends Owned> {
  readonly #model: OwnedModel<T>;
  readonly #batches = new BatchLookup<T>((keys) => this.#query(keys), MAX_FOUND);

  constructor(model: OwnedModel<T>) {
    this.#model = model;
  }

  /** The records of an account that have one of some ids, in no order. */
  async find(tenant: Tenant, ids: readonly StoredId[]): Promise<T[]> {
    const { userId } = tenant;
    const keys = new Set(ids.map((_id) => keyOf({ _id, userId })));
    // What a transaction has written only its own session sees.
    if (tenant.session || keys.size > MAX_OF_REQUEST) {
      return this.#model.find(withIds(ids)).of(tenant).lean<T[]>();
    }
    const found = await Promise.all([...keys].map((key) => this.#batches.get(key)));
    return found.filter((record) => record !== undefined);
  }

  async #query(keys: readonly string[]): Promise<ReadonlyMap<string, T>> {
    const asked = keys.map(fromKey);
    const [first = '', ...others] = new Set(asked.map(({ userId }) => userId));
    // One account says on which shard it is.
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

/** Names a record and whose it is: of another account's none is found. */
function keyOf({ _id, userId }: Owned): string {
  return idText(_id) + userId;
}

const UUID_LENGTH = 36;

function fromKey(key: string): Owned {
  return { _id: toStoredId(key.slice(0, UUID_LENGTH)), userId: key.slice(UUID_LENGTH) };
}
