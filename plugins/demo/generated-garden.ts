import type { Account, Tier } from '../../src/core/identity';
import { idText, newId, toStoredId } from '../../src/core/ids';
import { DAY_MS } from '../../src/core/time';
import type { ProgressBar } from '../../src/plugins/command';
import type { Host } from '../../src/plugins/host';
import type { Accounts } from '../accounts';
import {
  type CreateEvent,
  EVENT_QUOTA,
  type EventDocument,
  type Events,
  newEvent,
} from '../events';
import { photo, PHOTO_QUOTA, type PhotoDocument, type Photos } from '../photos';
import { plant, PLANT_QUOTA, type PlantDocument, type Plants } from '../plants';

/** Events written to the database at once. */
const BATCH = 10_000;
/** The longest history; more events than fit into it are closer together. */
const MAX_DAYS = 15 * 365;
/** Photos per event on average, if the tier has room for them. */
const PHOTOS_PER_EVENT = 0.01;

/** Name, species, days between waterings, and location. */
const KINDS = [
  ['Swiss cheese plant', 'Monstera deliciosa', 8, 'Study'],
  ['Golden pothos', 'Epipremnum aureum', 9, 'Living room'],
  ['Snake plant', 'Dracaena trifasciata', 18, 'Hallway'],
  ['Peace lily', 'Spathiphyllum wallisii', 6, 'Bathroom'],
  ['Boston fern', 'Nephrolepis exaltata', 3, 'Bathroom'],
  ['Moth orchid', 'Phalaenopsis amabilis', 8, 'Living room'],
  ['Aloe vera', 'Aloe vera', 18, 'Balcony'],
  ['Rosemary', 'Salvia rosmarinus', 7, 'Balcony'],
] as const;

/** Events other than waterings, which are twice as frequent as all of these. */
const CARE: readonly CreateEvent[] = [
  { type: 'fertilized' },
  { type: 'fertilized', text: 'At half strength.' },
  { type: 'fertilized' },
  { type: 'growth', growthAmount: 1.5, growthUnit: 'cm' },
  {
    type: 'growth',
    growthAmount: 0.8,
    growthUnit: 'cm',
    text: 'Measured from the soil to the tip.',
  },
  { type: 'note', text: 'Brown tips on a few leaves, probably dry air from the heating.' },
  { type: 'note', text: 'Two new leaves are unfurling.' },
  { type: 'journal', text: 'Back from a week away; all plants made it.' },
  { type: 'repotted', text: 'One size up; the roots had filled the pot.' },
  { type: 'soil_change', text: 'Replaced the top layer.' },
];

/** The plugins to which the demo writes. */
interface Dependencies {
  accounts: Accounts;
  plants: Plants;
  events: Events;
  photos: Photos;
}

/** Options of a generated garden. */
export interface GardenOptions {
  user: string;
  tier?: Tier | undefined;
  plants: number;
  events: number;
  seed: number;
}

/**
 * Adds generated plants with a long history to an account, which is created if needed.
 *
 * Events are written first and in bulk, out of reach until their plants exist. Everything else is one
 * transaction, so after a crash either the whole garden exists or none of it can be seen.
 *
 * @throws OperatorError if the tier has no room for the plants or the events
 */
export async function writeGarden(
  host: Host,
  records: Dependencies,
  { user, tier, plants, events, seed }: GardenOptions,
  progress: ProgressBar,
): Promise<{ user: string; plants: number; events: number; photos: number }> {
  const known = await records.accounts.account(user);
  const prospect = { id: user, tier: tier ?? known?.tier ?? 'free', usage: known?.usage ?? {} };
  host.quotas.requireRoom(prospect, { [PLANT_QUOTA]: plants, [EVENT_QUOTA]: events });
  const account = await records.accounts.ensureAccount(user, tier);
  const room = host.quotas.left(account, PHOTO_QUOTA);
  const photos = Math.min(plants + Math.round(events * PHOTOS_PER_EVENT), room);
  const garden: Garden = { account, random: randomFrom(seed), plants: [], photos: [] };
  for (const batch of inBatches(history(garden, { plants, events, photos }))) {
    await host.transact(user, async (tx) => {
      // Others may have logged some meanwhile.
      host.quotas.requireRoom(tx.account, { [EVENT_QUOTA]: batch.length });
      await records.events.insertBulk(tx, batch);
    });
    progress.advance(batch.length);
  }
  const taken = { [PLANT_QUOTA]: plants, [PHOTO_QUOTA]: garden.photos.length };
  await host.transact(user, async (tx) => {
    host.quotas.requireRoom(tx.account, taken);
    await records.plants.insertBulk(tx, garden.plants);
    await records.photos.insertBulk(tx, garden.photos);
    await host.rebuildDerived(tx);
  });
  return { user, plants, events, photos: garden.photos.length };
}

/** A garden while it is generated; its plants and photos are complete after the last event. */
interface Garden {
  account: Account;
  random: () => number;
  plants: PlantDocument[];
  photos: PhotoDocument[];
}

/** Adds plants and photos to a garden, and yields the events of each plant from now backwards. */
function* history(
  { account, random, ...garden }: Garden,
  wanted: Readonly<Record<'plants' | 'events' | 'photos', number>>,
): Generator<EventDocument> {
  const start = Date.now();
  const pick = <T>(items: readonly [T, ...T[]] | readonly T[]) =>
    items[Math.floor(random() * items.length)] as T;
  /** The share of a plant: all shares are equal, or one more. */
  const share = (total: number, index: number) =>
    Math.floor((total * (index + 1)) / wanted.plants) - Math.floor((total * index) / wanted.plants);
  const owned = (id: string, createdAt: Date) => ({
    _id: toStoredId(id),
    userId: account.id,
    createdAt,
    updatedAt: createdAt,
  });
  for (let index = 0; index < wanted.plants; index += 1) {
    const [name, species, wateringFrequencyDays, location] = pick(KINDS);
    const events = share(wanted.events, index);
    const days = Math.min(wateringFrequencyDays * 0.7, MAX_DAYS / (events + 1));
    const momentOf = (before: number) => new Date(start - before * days * DAY_MS);
    const plantId = idText(newId());
    let photos = share(wanted.photos, index);
    const takePhoto = (at: Date): string => {
      const id = idText(newId());
      const image = `demo/${id}`;
      const secureUrl = `https://images.example.com/${image}.jpg`;
      const file = { format: 'jpg', width: 3024, height: 4032, bytes: 1_500_000 };
      garden.photos.push(
        photo.toDocument({ plantId, imagehostPublicId: image, secureUrl, ...file }, owned(id, at)),
      );
      photos -= 1;
      return id;
    };
    const since = momentOf(events + 1);
    const primaryPhotoId = photos > 0 ? takePhoto(since) : null;
    const facts = { species, location, wateringFrequencyDays, fertilizerFrequencyDays: 30 };
    garden.plants.push(
      plant.toDocument(
        {
          name: `${name} ${index + 1}`,
          ...facts,
          primaryPhotoId,
          mossPoleNeeded: false,
          toxic: false,
        },
        owned(plantId, since),
      ),
    );
    for (let count = 0; count < events; count += 1) {
      const now = momentOf(count + random());
      const care = random() < 2 / 3 ? { type: 'watered' as const } : pick(CARE);
      const isShown = photos > 0 && care.type === 'growth';
      const photoIds = isShown ? [takePhoto(now)] : [];
      yield newEvent({ userId: account.id, account, now }, plantId, { ...care, photoIds });
    }
  }
}

function* inBatches(events: Iterable<EventDocument>): Generator<EventDocument[]> {
  let batch: EventDocument[] = [];
  for (const event of events) {
    if (batch.push(event) < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Pseudorandom numbers from 0 to just under 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
