import type { Transaction } from '../../src/data/transaction';
import { toStoredId } from '../../src/ids';
import type { Host } from '../../src/plugins/manifest';
import type { Parts } from './demo-garden';
import type { GardenSeed, SeedEvent, SeedPlant } from './garden-seed';
import { requireRoom } from './room';

/** Loads the garden of `seeds/garden.json`. */
export class SeededGarden {
  constructor(
    private readonly host: Host,
    private readonly parts: Parts,
  ) {}

  /** Adds the plants that are not there yet, all or none; answers how many. */
  async load({ user, tier, timezone, plants }: GardenSeed): Promise<number> {
    const { accounts } = this.parts;
    const account = await accounts.ensureAccount(user, tier);
    if (account.timezone !== timezone) await accounts.changeAccount(user, { timezone });
    return this.host.transact(user, async (tx) => {
      let added = 0;
      for (const plant of plants) {
        if (await this.parts.plants.exists(user, plant.id, tx.session)) continue;
        await this.#add(tx, plant);
        added += 1;
      }
      return added;
    });
  }

  async #add(tx: Transaction, { id, photos, events, ...fields }: SeedPlant): Promise<void> {
    await this.#take(tx, 'plants');
    await this.parts.plants.create(tx, fields, toStoredId(id));
    const photoIds = new Map<string, string>();
    for (const { id: label, ...photo } of photos) {
      await this.#take(tx, 'photos');
      const kept = await this.parts.photos.create(tx, { ...photo, plantId: id });
      photoIds.set(label, kept.id);
    }
    const [primaryPhotoId] = photoIds.values();
    if (primaryPhotoId !== undefined) await this.parts.plants.update(tx, id, { primaryPhotoId });
    for (const { daysAgo, at, ...event } of events) {
      await this.parts.events.create(tx, id, {
        ...event,
        occurredAt: momentOf({ daysAgo, at }, tx.now),
        photoIds: (event.photoIds ?? []).flatMap((label) => photoIds.get(label) ?? []),
      });
    }
  }

  async #take(tx: Transaction, quota: string): Promise<void> {
    requireRoom(this.host, tx.account, { [quota]: 1 });
    await tx.addUsage(quota, 1);
  }
}

function momentOf({ daysAgo, at }: Pick<SeedEvent, 'daysAgo' | 'at'>, now: Date): Date {
  const [hours, minutes] = at.split(':').map(Number);
  const moment = new Date(now);
  moment.setUTCDate(moment.getUTCDate() - daysAgo);
  moment.setUTCHours(hours ?? 0, minutes ?? 0, 0, 0);
  return moment;
}
