import { requireRoom } from '../../src/cli/room';
import { toStoredId } from '../../src/core/ids';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import { EVENT_QUOTA } from '../events';
import { PHOTO_QUOTA } from '../photos';
import { PLANT_QUOTA } from '../plants';
import type { Dependencies } from './generated-garden';
import type { GardenSeed, SeedPlant } from './seed';

/** Loads the garden of `seeds/garden.json`. */
export class SeededGarden {
  #user: string | undefined;
  readonly #host: Host;
  readonly #records: Dependencies;

  constructor(host: Host, records: Dependencies) {
    this.#host = host;
    this.#records = records;
  }

  /** The user whose garden this process loaded last. */
  get user(): string | undefined {
    return this.#user;
  }

  /** The reasons why a garden cannot be added: ids of other users, no room in the tier. */
  async preflight({ user, tier, plants }: GardenSeed): Promise<string[]> {
    const records = this.#records;
    const account = (await records.accounts.account(user)) ?? { tier, usage: {} };
    const owners = await records.plants.owners(idsOf(plants));
    // Nothing is added to plants that exist.
    const missing = plants.filter(({ id }) => !owners.has(id.toLowerCase()));
    const photos = idsOf(missing.flatMap((each) => each.photos));
    const photoOwners = await records.photos.owners(photos);
    const others = (kind: string, found: ReadonlyMap<string, string>): string[] =>
      [...found]
        .filter(([, owner]) => owner !== user)
        .map(([id]) => `${kind}: ${id} belongs to another user`);
    const over = (quota: string, wanted: number): string[] => {
      const left = this.#host.quotaLeft(account, quota);
      const room = `the ${account.tier} tier has room for ${left} more, but ${wanted} are needed`;
      return wanted > left ? [`${quota}: ${room}`] : [];
    };
    return [
      ...others('plants', owners),
      ...over(PLANT_QUOTA, missing.length),
      ...others('photos', photoOwners),
      ...over(PHOTO_QUOTA, photos.length - photoOwners.size),
      ...over(EVENT_QUOTA, missing.flatMap(({ events }) => events).length),
    ];
  }

  /** Adds the plants that do not exist yet, all or none; returns how many. */
  async load({ user, tier, timezone, plants }: GardenSeed): Promise<number> {
    const { accounts, deletions } = this.#records;
    if (!(await accounts.account(user))) await accounts.ensureAccount(user, tier, timezone);
    this.#user = user;
    for (;;) {
      await deletions.finish(user);
      const added = await this.#host.transact(user, async (tx) => {
        const pending = await deletions.plantIds(user, tx.session);
        // A plant that was deleted just now would get its old events back, or lose its new ones.
        if (idsOf(plants).some((id) => pending.includes(id))) return undefined;
        const there = await this.#records.plants.idsInOrder(tx, { ids: idsOf(plants) });
        const missing = plants.filter(({ id }) => !there.includes(id.toLowerCase()));
        for (const plant of missing) await this.#add(tx, plant);
        return missing.length;
      });
      if (added !== undefined) return added;
    }
  }

  async #add(tx: Transaction, { id, photos, events, ...fields }: SeedPlant): Promise<void> {
    const records = this.#records;
    const photoIds = photos.map((photo) => toStoredId(photo.id));
    // Photos outlive their plant, so those of a deleted plant still exist.
    const known = await records.photos.byIds(tx, photoIds);
    const added = photos.filter((photo) => !known.has(photo.id.toLowerCase()));
    const wanted = {
      ...{ [PLANT_QUOTA]: 1, [PHOTO_QUOTA]: added.length, [EVENT_QUOTA]: events.length },
    };
    requireRoom(this.#host, tx.account, wanted);
    for (const { id: photoId, ...photo } of added) {
      await records.photos.create(tx, photo, toStoredId(photoId));
    }
    const [primary] = photos;
    const shown = primary && { primaryPhotoId: primary.id };
    await records.plants.create(tx, { ...fields, ...shown }, toStoredId(id));
    await records.photos.claim(tx, id, photoIds);
    for (const { daysAgo, at, ...event } of events) {
      const occurredAt = new Date(tx.now);
      const [hours = 0, minutes = 0] = at.split(':').map(Number);
      occurredAt.setUTCDate(occurredAt.getUTCDate() - daysAgo);
      occurredAt.setUTCHours(hours, minutes, 0, 0);
      await records.events.create(tx, id, { ...event, occurredAt });
    }
  }
}

function idsOf(named: readonly { id: string }[]): string[] {
  return named.map(({ id }) => id.toLowerCase());
}
