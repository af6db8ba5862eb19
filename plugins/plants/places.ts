import { anyOf, idText, type StoredId } from '../../src/core/ids';
import type { Tenant } from '../../src/data/model/models';
import type { OwnedModel } from '../../src/data/model/owner';
import { LIST_ORDER } from '../../src/data/model/resource';
import type { Transaction } from '../../src/data/writing/transaction';
import { plantChanged } from './domain-events';
import type { PlantDocument, RenameLocation } from './schema';

/**
 * What locations have in common that are one place: keyboards leave spaces behind words, and there
 * are two ways to write an `é`.
 */
export function placeOf(location: string): string {
  return location.normalize('NFC').trim().replace(/\s+/gu, ' ');
}

interface Spelling {
  location: string;
  /** Null where active plants stand there. */
  archivedAt: Date | null;
  /** Of its oldest plant: of the active ones, where there are any. */
  createdAt: Date;
  plantId: StoredId;
}

/** The places that plants stand at, each of which may be spelled in several ways. */
export class Places {
  readonly #model: OwnedModel<PlantDocument>;

  constructor(model: OwnedModel<PlantDocument>) {
    this.#model = model;
  }

  /** Each place of active plants once, as the oldest spells it, sorted by UTF-16 code unit. */
  async list(tenant: Tenant): Promise<string[]> {
    const spellings = (await this.#spellings(tenant)).sort(
      (a, b) =>
        a.createdAt.getTime() - b.createdAt.getTime() ||
        (idText(a.plantId) < idText(b.plantId) ? -1 : 1),
    );
    const places = new Map<string, string>();
    for (const { location, archivedAt } of spellings) {
      const place = placeOf(location);
      if (!archivedAt && place !== '' && !places.has(place)) places.set(place, location);
    }
    return [...places.values()].sort();
  }

  /** Has all plants of a place, archived ones too, stand at another; answers how many are active. */
  async rename(tx: Transaction, { from, to }: RenameLocation): Promise<{ plants: number }> {
    const there = this.#model.find(await this.filter(tx, from)).of(tx);
    const found = await there.select(['location', 'archivedAt']).lean();
    const ids = found.filter(({ location }) => location !== to).map(({ _id }) => _id);
    const $set = { location: to, updatedAt: tx.now };
    await this.#model.updateMany({ _id: anyOf(ids) }, { $set }).of(tx);
    for (const id of ids) {
      await tx.emit(plantChanged, { plantId: idText(id), change: { location: to } });
    }
    return { plants: found.filter(({ archivedAt }) => !archivedAt).length };
  }

  /** Finds the plants at a location, however it is spelled, or all where none is given. */
  async filter(tenant: Tenant, location: string | undefined) {
    if (location === undefined) return {};
    const place = placeOf(location);
    const spellings = (await this.#spellings(tenant)).map((each) => each.location);
    return { location: { $in: spellings.filter((each) => placeOf(each) === place) } };
  }

  async #spellings({ userId, session }: Tenant): Promise<Spelling[]> {
    // MongoDB finds the first key of each location in the index and skips the others. Null comes first.
    return this.#model
      .aggregate<Spelling>([
        { $match: { userId, location: { $gt: '' } } },
        { $sort: { location: 1, archivedAt: 1, ...LIST_ORDER } },
        {
          $group: {
            _id: '$location',
            location: { $first: '$location' },
            archivedAt: { $first: '$archivedAt' },
            createdAt: { $first: '$createdAt' },
            plantId: { $first: '$_id' },
          },
        },
      ])
      .session(session ?? null);
  }
}
