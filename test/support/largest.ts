import eventsPlugin, { type EventDocument } from '../../plugins/events';
import photosPlugin, { photo } from '../../plugins/photos';
import plantsPlugin, { plant } from '../../plugins/plants';
import type { App } from '../../src/app/app';
import { idText, newId } from '../../src/core/ids';
import { calendarOf, HOUR_MS } from '../../src/core/time';
import { rebuildAll } from '../../src/app/reconcile';

/** Text whose JSON is six times as long. */
const controls = (length: number): string => '\u0001'.repeat(length);

const URL_START = 'https://images.example.com/';

/** The fields of a photo with the longest possible JSON. */
export const LARGEST_PHOTO = {
  imagehostPublicId: controls(512),
  secureUrl: URL_START + 'x'.repeat(2048 - URL_START.length),
  width: Number.MAX_SAFE_INTEGER,
  height: Number.MAX_SAFE_INTEGER,
  format: controls(32),
  bytes: Number.MAX_SAFE_INTEGER,
};

/** The same of a plant. */
export const LARGEST_PLANT = {
  name: controls(100),
  species: controls(100),
  location: controls(100),
  notes: controls(1000),
  careNotes: controls(1000),
  wateringNotes: controls(500),
  lightNotes: controls(500),
  soilType: controls(100),
  fertilizerType: controls(100),
  fertilizerNotes: controls(500),
  temperatureNotes: controls(500),
  mossPoleNeeded: true,
  toxic: true,
};

/** Stores plants with these fields. */
export async function storePlants(
  app: App,
  userId: string,
  given: readonly Parameters<typeof plant.toDocument>[0][],
): Promise<void> {
  const createdAt = new Date();
  const plants = given.map((fields) =>
    plant.toDocument(fields, { _id: newId(), userId, createdAt, updatedAt: createdAt }),
  );
  await app.writeQueue.run(userId, async (tx) => {
    await app.exportsOf(plantsPlugin).insertBulk(tx, plants);
    await rebuildAll(app.derived, tx);
  });
}

/** When the first event of {@link storeLargest} happened; each of the others is an hour later. */
export const LARGEST_SINCE = Date.UTC(2026, 0, 1);

function hourOf(hour: number): Pick<EventDocument, 'occurredAt' | 'occurredOn'> {
  const occurredAt = new Date(LARGEST_SINCE + hour * HOUR_MS);
  return { occurredAt, occurredOn: calendarOf('UTC')(occurredAt) };
}

const PHOTOS_PER_EVENT = 20;

/**
 * Stores plants, and events of the first one, with the longest possible JSON: 30 KB a plant, 120 KB an
 * event.
 *
 * @returns the id of the plant with the events, and those of the photos of each
 */
export async function storeLargest(
  app: App,
  userId: string,
  counts: { plants: number; events: number },
): Promise<{ plantId: string; photoIds: string[] }> {
  const createdAt = new Date();
  const own = () => ({ _id: newId(), userId, createdAt, updatedAt: createdAt });
  const photos = Array.from({ length: PHOTOS_PER_EVENT }, () =>
    photo.toDocument(LARGEST_PHOTO, own()),
  );
  const primaryPhotoId = idText(photos[0]?._id ?? newId());
  const plants = Array.from({ length: counts.plants }, () =>
    plant.toDocument({ ...LARGEST_PLANT, primaryPhotoId }, own()),
  );
  const [first] = plants;
  if (!first) throw new Error('Events need a plant.');
  const events = Array.from({ length: counts.events }, (_, hour): EventDocument => ({
    ...own(),
    plantId: first._id,
    type: 'note',
    text: controls(2000),
    growthAmount: null,
    growthUnit: null,
    deletedAt: null,
    ...hourOf(hour),
    photos: photos.map(({ _id }) => ({ photoId: _id })),
  }));
  await app.writeQueue.run(userId, async (tx) => {
    await app.exportsOf(eventsPlugin).events.insertBulk(tx, events);
    await app.exportsOf(photosPlugin).insertBulk(tx, photos);
    await app.exportsOf(plantsPlugin).insertBulk(tx, plants);
    await rebuildAll(app.derived, tx);
  });
  return { plantId: idText(first._id), photoIds: photos.map(({ _id }) => idText(_id)) };
}
