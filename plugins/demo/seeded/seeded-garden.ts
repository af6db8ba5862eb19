import type { Transaction } from '../../../src/data/transaction';
import { toStoredId } from '../../../src/core/ids';
import type { Host } from '../../../src/plugins/host';
import type { Account } from '../../../src/core/identity';
import { EVENT_QUOTA } from '../../events';
import { PHOTO_QUOTA } from '../../photos';
import { PLANT_QUOTA } from '../../plants';
import type { Dependencies } from '../generated/generated-garden';
import type { GardenSeed, SeedEvent, SeedPlant } from './garden-seed';
import { requireQuota } from '../quota';

/** Loads the garden of `seeds/garden.json`. */
export class SeededGarden {
  #user: string | undefined;
  readonly #host: Host;
  readonly #dependencies: Dependencies;

  constructor(host: Host, dependencies: Dependencies) {
    this.#host = host;
    this.#dependencies = dependencies;
  }

  /** Whose garden was loaded last in this process. */
  get user(): string | undefined {
    return this.#user;
  }

  /** Why not all of a garden can be added: ids that are others', tiers that have no room. */
  async preflight(garden: GardenSeed): Promise<string[]> {
    const { accounts } = this.#dependencies;
    const { user, tier } = garden;
    const account = (await accounts.account(user)) ?? { tier, usage: {} };
    const plants = garden.plants.map(({ id }) => id.toLowerCase());
    const owners = await this.#dependencies.plants.owners(plants);
    // Of a plant that is there nothing is added.
    const missing = garden.plants.filter(({ id }) => !owners.has(id.toLowerCase()));
    const photos = missing.flatMap((plant) => plant.photos.map(({ id }) => id.toLowerCase()));
    const photoOwners = await this.#dependencies.photos.owners(photos);
    const newPhotos = photos.filter((id) => !photoOwners.has(id));
    const events = missing.flatMap((plant) => plant.events);
    return [
      ...othersOf('plants', owners, user),
      ...this.#overQuota(account, PLANT_QUOTA, missing.length),
      ...othersOf('photos', photoOwners, user),
      ...this.#overQuota(account, PHOTO_QUOTA, newPhotos.length),
      ...this.#overQuota(account, EVENT_QUOTA, events.length),
    ];
  }

  /** Adds the plants that are not there yet, all or none; answers how many. */
  async load({ user, tier, timezone, plants }: GardenSeed): Promise<number> {
    const { accounts, deletions } = this.#dependencies;
    if (!(await accounts.account(user))) await accounts.ensureAccount(user, tier, timezone);
    this.#user = user;
    for (;;) {
      await deletions.finish(user);
      const added = await this.#host.transact(user, async (tx) => {
        const pending = await deletions.plantIds(user, tx.session);
        // One that was deleted just now would get its old events back, or lose its new ones.
        const isPending = plants.some(({ id }) => pending.includes(id.toLowerCase()));
        return isPending ? undefined : this.#addMissing(tx, plants);
      });
      if (added !== undefined) return added;
    }
  }

  async #addMissing(tx: Transaction, plants: readonly SeedPlant[]): Promise<number> {
    let added = 0;
    for (const plant of plants) {
      if (await this.#dependencies.plants.exists(tx, plant.id)) continue;
      await this.#add(tx, plant);
      added += 1;
    }
    return added;
  }

  #overQuota(account: Pick<Account, 'tier' | 'usage'>, quota: string, wanted: number): string[] {
    const left = this.#host.quotaLeft(account, quota);
    return wanted > left
      ? [`${quota}: the ${account.tier} tier has room for ${left} more, and ${wanted} are wanted`]
      : [];
  }

  async #add(tx: Transaction, { id, photos, events, ...fields }: SeedPlant): Promise<void> {
    const { plants, photos: photoRecords } = this.#dependencies;
    this.#take(tx, PLANT_QUOTA);
    await plants.create(tx, fields, toStoredId(id));
    const photoIds = photos.map((photo) => toStoredId(photo.id));
    // Photos outlive their plant: those of one that was deleted are there already.
    const known = await photoRecords.byIds(tx, photoIds);
    for (const { id: photoId, ...photo } of photos) {
      if (known.has(photoId.toLowerCase())) continue;
      this.#take(tx, PHOTO_QUOTA);
      await photoRecords.create(tx, photo, toStoredId(photoId));
    }
    await photoRecords.claim(tx, id, photoIds);
    const primaryPhotoId = photos[0]?.id;
    if (primaryPhotoId !== undefined) await plants.update(tx, id, { primaryPhotoId });
    for (const { daysAgo, at, ...event } of events) {
      const occurredAt = momentOf({ daysAgo, at }, tx.now);
      this.#take(tx, EVENT_QUOTA);
      await this.#dependencies.events.create(tx, id, { ...event, occurredAt });
    }
  }

  #take(tx: Transaction, quota: string): void {
    requireQuota(this.#host, tx.account, { [quota]: 1 });
  }
}

/** @param owners whose the records are that are there already, by their ids */
function othersOf(kind: string, owners: ReadonlyMap<string, string>, user: string): string[] {
  const others = [...owners].filter(([, owner]) => owner !== user);
  return others.map(([id]) => `${kind}: ${id} is the id of somebody else's`);
}

function momentOf({ daysAgo, at }: Pick<SeedEvent, 'daysAgo' | 'at'>, now: Date): Date {
  const [hours, minutes] = at.split(':').map(Number);
  const moment = new Date(now);
  moment.setUTCDate(moment.getUTCDate() - daysAgo);
  moment.setUTCHours(hours ?? 0, minutes ?? 0, 0, 0);
  return moment;
}
