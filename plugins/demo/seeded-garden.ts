import type { Host } from '../../src/plugins/host';
import type { Accounts } from '../accounts';
import { EVENT_QUOTA } from '../events';
import { PHOTO_QUOTA } from '../photos';
import { PLANT_QUOTA, type Plants } from '../plants';
import type { GardenImport, ImportedGarden } from '../transfer';
import type { GardenSeed, SeedEvent } from './seed';

interface Dependencies {
  accounts: Accounts;
  plants: Plants;
  gardens: GardenImport;
}

/** Imports the garden of `seeds/garden.json` into an account that has no plants yet. */
export class SeededGarden {
  #user: string | undefined;
  readonly #host: Host;
  readonly #records: Dependencies;

  constructor(host: Host, records: Dependencies) {
    this.#host = host;
    this.#records = records;
  }

  /** The user of the garden that this process loaded last. */
  get user(): string | undefined {
    return this.#user;
  }

  /** Why the tier has no room for the garden, a sentence each. */
  async preflight({ user, tier, plants }: GardenSeed): Promise<string[]> {
    if ((await this.#records.plants.idsInOrder({ userId: user }, {})).length > 0) return [];
    const known = await this.#records.accounts.account(user);
    return this.#host.quotas.shortages(known ?? { id: user, tier, usage: {} }, {
      [PLANT_QUOTA]: plants.length,
      [PHOTO_QUOTA]: plants.flatMap(({ photos }) => photos).length,
      [EVENT_QUOTA]: plants.flatMap(({ events }) => events).length,
    });
  }

  /** Adds the plants, all or none; returns how many. */
  async load({ user, tier, timezone, plants }: GardenSeed): Promise<number> {
    const records = this.#records;
    if (!(await records.accounts.account(user))) {
      await records.accounts.ensureAccount(user, tier, timezone);
    }
    this.#user = user;
    const garden: ImportedGarden = {
      plants: plants.map(({ id: _id, photos, events, ...fields }) => ({
        ...fields,
        ...(photos[0] && { primaryPhotoId: photos[0].id }),
        photos,
        schedules: [],
        events: events.map(({ daysAgo, at, ...event }) => ({
          ...event,
          occurredAt: momentOf({ daysAgo, at }),
        })),
      })),
      photos: [],
    };
    return this.#host.transact(user, async (tx) => {
      if ((await records.plants.idsInOrder(tx, {})).length > 0) return 0;
      return (await records.gardens.insert(tx, garden)).plants;
    });
  }
}

function momentOf({ daysAgo, at }: Pick<SeedEvent, 'daysAgo' | 'at'>): Date {
  const [hours = 0, minutes = 0] = at.split(':').map(Number);
  const moment = new Date();
  moment.setUTCDate(moment.getUTCDate() - daysAgo);
  moment.setUTCHours(hours, minutes, 0, 0);
  return moment;
}
