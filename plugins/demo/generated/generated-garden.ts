import { setImmediate } from 'node:timers/promises';

import type { Account, Tier } from '../../../src/core/identity';
import type { ProgressBar } from '../../../src/plugins/command';
import type { Host } from '../../../src/plugins/host';
import type { Accounts } from '../../accounts';
import {
  EVENT_QUOTA,
  type EventDocument,
  type Events,
  type PendingPlantDeletions,
} from '../../events';
import { PHOTO_QUOTA, type PhotoDocument, type Photos } from '../../photos';
import { PLANT_QUOTA, type PlantDocument, type Plants } from '../../plants';
import { eventDocument, photoDocument, plantDocument } from './documents';
import { historyOf } from './history';
import { IdSequence } from './id-sequence';
import { planGarden, type PlannedPlant } from './garden-plan';
import { Random } from './random';
import { requireQuota } from '../quota';

/** Events that go to the database at once. */
const BATCH = 10_000;
/** Photos for each event, on the average, where the tier has room for them. */
const PHOTOS_PER_EVENT = 0.01;
const PHOTOGENIC: readonly string[] = ['growth', 'journal', 'repotted'];

/** What the demo writes to. */
export interface Dependencies {
  accounts: Accounts;
  plants: Plants;
  events: Events;
  deletions: PendingPlantDeletions;
  photos: Photos;
}

interface DemoOptions {
  user: string;
  tier?: Tier | undefined;
  plants: number;
  events: number;
  seed: number;
}

interface DemoResult {
  user: string;
  plants: number;
  events: number;
  photos: number;
}

/** Writes made-up gardens with long histories. */
export class GeneratedGarden {
  readonly #host: Host;
  readonly #dependencies: Dependencies;

  constructor(host: Host, dependencies: Dependencies) {
    this.#host = host;
    this.#dependencies = dependencies;
  }

  /**
   * Adds plants and their history to an account, which is made when missing.
   *
   * Events are written first and in bulk, out of reach as long as their plants do not exist. All
   * else is one transaction: after a crash at any moment, either all is there or nothing to be seen.
   *
   * @throws CommandError when the tier has no room for the plants or the events
   */
  async write(options: DemoOptions, progress: ProgressBar): Promise<DemoResult> {
    const { user, tier, seed } = options;
    const { accounts } = this.#dependencies;
    const known = await accounts.account(user);
    const prospect = {
      id: user,
      tier: tier ?? known?.tier ?? 'free',
      usage: known?.usage ?? {},
    };
    requireQuota(this.#host, prospect, {
      [PLANT_QUOTA]: options.plants,
      [EVENT_QUOTA]: options.events,
    });
    const account = await accounts.ensureAccount(user, tier);
    const photos = Math.min(
      options.plants + Math.round(options.events * PHOTOS_PER_EVENT),
      this.#host.quotaLeft(account, PHOTO_QUOTA),
    );
    const random = new Random(seed);
    const garden = new GardenBuilder(account, planGarden({ ...options, photos }, random), random);
    await this.#insertEvents(user, garden.events(new Date()), progress);
    await this.#host.transact(user, async (tx) => {
      // Others may have taken the room meanwhile.
      const wanted = {
        [PLANT_QUOTA]: garden.plants.length,
        [PHOTO_QUOTA]: garden.photos.length,
      };
      requireQuota(this.#host, tx.account, wanted);
      await this.#dependencies.plants.insertBulk(tx, garden.plants);
      if (garden.photos.length > 0) await this.#dependencies.photos.insertBulk(tx, garden.photos);
      await this.#host.rebuildDerived(tx);
    });
    const { plants, events } = options;
    return { user, plants, events, photos: garden.photos.length };
  }

  /** Makes up the next batch while the database takes the one before. */
  async #insertEvents(
    user: string,
    events: Iterable<EventDocument>,
    progress: ProgressBar,
  ): Promise<void> {
    let batch: EventDocument[] = [];
    let inserted = Promise.resolve();
    const insert = async (): Promise<void> => {
      const full = batch;
      batch = [];
      await inserted;
      inserted = this.#host
        .transact(user, async (tx) => {
          // Others may have logged some meanwhile.
          requireQuota(this.#host, tx.account, { [EVENT_QUOTA]: full.length });
          await this.#dependencies.events.insertBulk(tx, full);
        })
        .then(() => {
          progress.advance(full.length);
        });
      // Until it is waited for, nobody else would take its failure.
      inserted.catch(() => undefined);
      // Sent before the next batch is made up, which lets nothing else run.
      await setImmediate();
    };
    for (const event of events) {
      batch.push(event);
      if (batch.length === BATCH) await insert();
    }
    if (batch.length > 0) await insert();
    await inserted;
  }
}

/** A garden while its history is made up; plants and photos are known once all events are. */
class GardenBuilder {
  readonly plants: PlantDocument[] = [];
  readonly photos: PhotoDocument[] = [];
  readonly #eventIds = new IdSequence();
  readonly #account: Account;
  readonly #garden: readonly PlannedPlant[];
  readonly #random: Random;

  constructor(account: Account, garden: readonly PlannedPlant[], random: Random) {
    this.#account = account;
    this.#garden = garden;
    this.#random = random;
  }

  *events(now: Date): Generator<EventDocument> {
    for (const planned of this.#garden) yield* this.#eventsOf(planned, now);
  }

  *#eventsOf(planned: PlannedPlant, now: Date): Generator<EventDocument> {
    const account = this.#account;
    const random = this.#random;
    let since = now;
    let taken = 0;
    let primaryPhotoId: PlantDocument['primaryPhotoId'] = null;
    const takePhoto = (at: Date) => {
      const photo = photoDocument(account.id, planned, at, random);
      this.photos.push(photo);
      taken += 1;
      primaryPhotoId ??= photo._id;
      return photo._id;
    };
    for (const entry of historyOf(planned, now, random)) {
      const ids = { event: this.#eventIds.next(), plant: planned.id };
      const event = eventDocument(account, ids, entry, random);
      if (entry.at < since) since = entry.at;
      const isShown = PHOTOGENIC.includes(entry.type) && random.chance(0.3);
      if (isShown && taken < planned.photos) {
        event.photos.push({ photoId: takePhoto(entry.at) });
      }
      yield event;
    }
    if (taken < planned.photos) takePhoto(since);
    this.plants.push(plantDocument(account.id, planned, { since, primaryPhotoId }));
  }
}
