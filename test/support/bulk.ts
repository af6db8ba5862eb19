import eventsPlugin from '../../plugins/events';
import type { EventDocument } from '../../plugins/events/model';
import { EVENT_TYPES } from '../../plugins/events/schema';
import type { App } from '../../src/app';
import { newId, toStoredId } from '../../src/ids';
import { rebuildAll } from '../../src/reconcile';

const CHUNK = 10_000;
const HOUR_MS = 60 * 60 * 1000;

/** Logs many events on plants, an hour apart and of all types, faster than one could by HTTP. */
export async function logMany(
  app: App,
  userId: string,
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  const { events } = app.offers(eventsPlugin);
  for (const [plantId, count] of Object.entries(counts)) {
    const places = Array.from({ length: count }, (_, place) => place);
    while (places.length > 0) {
      const chunk = places.splice(0, CHUNK).map((place) => anEvent(userId, plantId, place));
      await events.insertBulk(chunk);
    }
  }
  await app.unitOfWork.run(userId, (tx) => rebuildAll(app.derived, tx));
}

function anEvent(userId: string, plantId: string, place: number): EventDocument {
  const now = new Date();
  const type = EVENT_TYPES[place % EVENT_TYPES.length] ?? 'watered';
  return {
    ...{ _id: newId(), userId, plantId: toStoredId(plantId), type, text: null },
    growthAmount: type === 'growth' ? 0.1 : null,
    growthUnit: type === 'growth' ? 'cm' : null,
    occurredAt: new Date(now.getTime() - (place % 8000) * HOUR_MS),
    ...{ createdAt: now, updatedAt: now, deletedAt: null, photos: [] },
  };
}
