import type { Database } from '../mongodb/database';
import { batchesOf } from '../model/batches';
import { collectionOf, type ModelDefinition } from '../model/models';
import type { OwnedModel } from '../model/owner';

/** Records deleted by one command, so that other writes are not delayed. */
const CHUNK = 1000;

/** The data of accounts in all plugins, without the accounts themselves. */
export class AccountData {
  /** By the names of the collections. */
  readonly #collections: ReadonlyMap<string, OwnedModel<object>>;

  /** @param models the models of all plugins */
  constructor(database: Database, models: readonly ModelDefinition[]) {
    this.#collections = new Map(
      models.filter(isOwnedByAccount).map((model) => [collectionOf(model), database.model(model)]),
    );
  }

  /** The number of records in each collection. */
  async counts(userId: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const [name, model] of this.#collections) {
      counts[name] = await model.countDocuments().of({ userId });
    }
    return counts;
  }

  /** The stored records of each collection, a batch at a time. */
  *records(userId: string): Generator<[collection: string, batches: AsyncIterable<object[]>]> {
    for (const [name, model] of this.#collections) {
      const found = model.find().of({ userId }).setOptions({ promoteBuffers: false });
      yield [name, batchesOf<object>(found)];
    }
  }

  /**
   * Deletes all records, a chunk at a time. The account must not be written to any more.
   *
   * @param onDeleted called with the size of each chunk
   */
  async delete(userId: string, onDeleted: (count: number) => void): Promise<void> {
    for (const model of this.#collections.values()) {
      let deleted: number;
      do {
        deleted = await deleteSome(model, userId);
        onDeleted(deleted);
      } while (deleted > 0);
    }
  }
}

/** Deletes a chunk of records. Tracking and quotas no longer matter. */
async function deleteSome(model: OwnedModel<object>, userId: string): Promise<number> {
  const found = model.find().of({ userId }).select('_id').limit(CHUNK);
  const ids = (await found.lean<{ _id: unknown }[]>()).map(({ _id }) => _id);
  const some = model.deleteMany().where({ _id: { $in: ids } });
  return (await some.of({ userId }).setOptions({ middleware: false })).deletedCount;
}

function isOwnedByAccount(model: ModelDefinition): model is ModelDefinition<object, 'account'> {
  return model.owner === 'account';
}
