import { anyOf, idText, type StoredId } from '../../src/core/ids';
import type { Tenant } from '../../src/data/model/models';
import type { OwnedModel } from '../../src/data/model/owner';
import { LIST_ORDER, updateOf } from '../../src/data/model/resource';
import type { Transaction } from '../../src/data/writing/transaction';
import { plantsChanged } from './domain-events';
import type { PlantDocument, RenameLocation } from './schema';

/**
 * The key of a location. Spellings of one place share it: keyboards leave trailing spaces, and `é` can
 * be written in two ways.
 */
export function placeOf(location: string): string {
  return location.normalize('NFC').trim().replace(/\s+/gu, ' ');
}

interface Spelling {
  location: string;
  /** Null if any active plant has this spelling. */
  archivedAt: Date | null;
  /** Of its oldest plant; of its oldest active plant if there is one. */
  createdAt: Date;
  plantId: StoredId;
}

/** The places where plants stand, each perhaps in several spellings. */
export class Places {
  readonly #model: OwnedModel<PlantDocument>;

  constructor(model: OwnedModel<PlantDocument>) {
    this.#model = model;
  }

  /** The places of active plants, each as its oldest plant spells it, sorted by UTF-16 code unit. */
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

  /** Moves all plants of a place to another, archived ones included; returns how many are active. */
  async rename(tx: Transaction, { from, to }: RenameLocation): Promise<{ plants: number }> {
    const there = this.#model.find(await this.filter(tx, from)).of(tx);
    const found = await there.select(['location', 'archivedAt', 'updatedAt']).lean();
    const moved = found.filter(({ location }) => location !== to);
    const ids = moved.map(({ _id }) => _id);
    const $set = { location: to, updatedAt: updateOf(tx, moved) };
    await this.#model.updateMany({ _id: anyOf(ids) }, { $set }).of(tx);
    await tx.emit(plantsChanged, { plantIds: ids.map(idText), change: { location: to } });
    return { plants: found.filter(({ archivedAt }) => !archivedAt).length };
  }

  /** A filter for the plants at a location in any spelling, or for all plants if none is given. */
  async filter(tenant: Tenant, location: string | undefined) {
    if (location === undefined) return {};
    const place = placeOf(location);
    const spellings = (await this.#spellings(tenant)).map((each) => each.location);
    return { location: { $in: spellings.filter((each) => placeOf(each) === place) } };
  }

  async #spellings({ userId, session }: Tenant): Promise<Spelling[]> {
    // MongoDB reads only the first index key of each location. Null sorts first.
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
