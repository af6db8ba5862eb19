import type { Account } from '../../src/core/identity';
import { idText } from '../../src/core/ids';
import { chunksOf } from '../../src/core/values';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import { type Documents, documentsOf } from './documents';
import { type Gardens, knownOf } from './known';
import type { ImportedGarden } from './schema';

/** Events written to the database at once if there are very many. */
const BATCH = 10_000;

/** The size of a garden. */
export interface Counts {
  plants: number;
  events: number;
}

/** The new plants of an import that lists them. */
export interface ImportedPlants extends Counts {
  items: { id: string; name: string }[];
}

export function countOf({ plants }: ImportedGarden): Counts {
  return { plants: plants.length, events: plants.flatMap(({ events }) => events).length };
}

/**
 * Imports gardens into accounts: all of a garden or, if anything fails, nothing. Of a part of an export, only
 * what no earlier import added.
 */
export class GardenImport {
  readonly #host: Host;
  readonly #gardens: Gardens;

  constructor(host: Host, gardens: Gardens) {
    this.#host = host;
    this.#gardens = gardens;
  }

  /** @throws ApiError photo_not_found (400), and the errors of limits of the tier */
  async insert(tx: Transaction, garden: ImportedGarden): Promise<Counts> {
    const made = await documentsOf(tx, garden, await knownOf(tx, garden, this.#gardens));
    await this.#insert(tx, made);
    return { plants: made.plants.length, events: made.events.length };
  }

  /** The same; also returns the new plants. @throws ApiError as {@link insert} */
  async insertPlants(tx: Transaction, garden: ImportedGarden): Promise<ImportedPlants> {
    const made = await documentsOf(tx, garden);
    await this.#insert(tx, made);
    const items = made.plants.map(({ _id, name }) => ({ id: idText(_id), name }));
    return { items, ...countOf(garden) };
  }

  /** What an import would add now. @throws ApiError photo_not_found (400) */
  async additions(
    account: Account,
    garden: ImportedGarden,
  ): Promise<Counts & { archived: number; photos: number }> {
    const { id: userId } = account;
    const known = await knownOf({ userId }, garden, this.#gardens);
    const made = await documentsOf({ userId, account, now: new Date() }, garden, known);
    const archived = made.plants.filter(({ archivedAt }) => archivedAt).length;
    const { plants, events, photos } = made;
    return { plants: plants.length, archived, events: events.length, photos: photos.length };
  }

  async #insert(tx: Transaction, made: Documents): Promise<void> {
    const { plants, photos, schedules, events, shown, kept } = made;
    const newPlants = new Set(plants.map(({ _id }) => idText(_id)));
    for (const [plantId, ids] of shown)
      await this.#gardens.photos.showIn(tx, plantId, [...ids], 'plants');
    for (const [plantId, ids] of kept) {
      if (newPlants.has(plantId)) await this.#gardens.photos.claim(tx, plantId, ids);
    }
    await this.#gardens.plants.insertBulk(tx, plants, { eventsFollow: true });
    await this.#gardens.photos.insertBulk(tx, photos);
    await this.#gardens.schedules.insertBulk(tx, schedules);
    await this.#gardens.events.insertWithPlants(tx, events, newPlants);
  }

  /**
   * The same for a garden of any size. Very many events are written first, out of reach until their plants
   * exist; everything else is one transaction.
   *
   * @param onWritten receives the number of events of each batch written
   */
  async insertMany(
    account: Account,
    garden: ImportedGarden,
    onWritten: (count: number) => void,
  ): Promise<Counts> {
    const { id: userId } = account;
    if (garden.part || countOf(garden).events <= BATCH) {
      return this.#host.transact(userId, (tx) => this.insert(tx, garden));
    }
    const made = await documentsOf({ userId, account, now: new Date() }, garden);
    try {
      for (const batch of chunksOf(made.events, BATCH)) {
        await this.#host.transact(userId, (tx) => this.#gardens.events.insertBulk(tx, batch));
        onWritten(batch.length);
      }
      await this.#host.transact(userId, async (tx) => {
        const plantIds = made.plants.map(({ _id }) => _id);
        if ((await this.#gardens.events.countOf(tx, plantIds)) !== made.events.length) {
          throw new Error('events were removed meanwhile, as by reconcile --repair; import again');
        }
        for (const [id, ids] of made.shown)
          await this.#gardens.photos.showIn(tx, id, [...ids], 'plants');
        await this.#gardens.plants.insertBulk(tx, made.plants);
        await this.#gardens.photos.insertBulk(tx, made.photos);
        await this.#gardens.schedules.insertBulk(tx, made.schedules);
        await this.#host.rebuildDerived(tx);
      });
    } catch (error) {
      // The first error matters more.
      await this.#discard(userId, made).catch(() => undefined);
      throw error;
    }
    return countOf(garden);
  }

  /** Deletes the events of an import that failed, so that they do not count. */
  async #discard(userId: string, { plants, events }: Documents): Promise<void> {
    const ids = plants.map(({ _id }) => _id);
    for (const batch of chunksOf(events, BATCH)) {
      await this.#host.transact(userId, async (tx) => {
        // The plants are there if only the confirmation was lost.
        if ((await this.#gardens.plants.existing(tx, ids)).size > 0) return;
        await this.#gardens.events.removeBulk(tx, batch);
      });
    }
  }
}
