import { BatchLookup } from '../core/batch-lookup';
import { idText, type StoredId, toStoredId } from '../core/ids';
import type { Tenant } from './models';
import { type RecordReader, withIds } from './record-reader';

/** How many records a query finds: they are decoded in one turn of the event loop. */
const MAX_FOUND = 100;
/** How many a request may look up with those of others; more are found by themselves. */
const MAX_OF_REQUEST = 20;

interface Owned {
  _id: StoredId;
  userId: string;
}

type Reader<T extends Owned> = Pick<RecordReader<T, Tenant>, 'find' | 'findAcrossAccounts'>;

/**
 * Finds records by their ids. Requests that come together, also those of different accounts, find
 * theirs by one query; each gets what is its own account's.
 */
export class RecordLookup<T extends Owned> {
  readonly #records: Reader<T>;
  readonly #batches = new BatchLookup<T>((keys) => this.#query(keys), MAX_FOUND);

  constructor(records: Reader<T>) {
    this.#records = records;
  }

  /** The records of an account that have one of some ids, in no order. */
  async find(tenant: Tenant, ids: readonly StoredId[]): Promise<T[]> {
    const { userId } = tenant;
    const keys = new Set(ids.map((_id) => keyOf({ _id, userId })));
    // What a transaction has written only its own session sees.
    if (tenant.session || keys.size > MAX_OF_REQUEST) {
      return this.#records.find(tenant, withIds(ids));
    }
    const found = await Promise.all([...keys].map((key) => this.#batches.get(key)));
    return found.filter((record) => record !== undefined);
  }

  async #query(keys: readonly string[]): Promise<ReadonlyMap<string, T>> {
    const asked = keys.map(fromKey);
    const [userId = '', ...others] = new Set(asked.map((each) => each.userId));
    const filter = withIds<T>(asked.map(({ _id }) => _id));
    const found =
      others.length === 0
        ? await this.#records.find({ userId }, filter)
        : await this.#records.findAcrossAccounts('requests of several accounts come together', {
            ...filter,
            userId: { $in: [userId, ...others] },
          });
    return new Map(found.map((record) => [keyOf(record), record]));
  }
}

/** Names a record and whose it is: of another account's none is found. */
function keyOf({ _id, userId }: Owned): string {
  return idText(_id) + userId;
}

const UUID_LENGTH = 36;

function fromKey(key: string): Owned {
  return { _id: toStoredId(key.slice(0, UUID_LENGTH)), userId: key.slice(UUID_LENGTH) };
}
