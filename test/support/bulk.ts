import eventsPlugin, { EVENT_TYPES, type EventDocument } from '../../plugins/events';
import type { App } from '../../src/app/app';
import { newId, toStoredId } from '../../src/core/ids';
import { HOUR_MS } from '../../src/core/time';
import { rebuildAll } from '../../src/app/reconcile';

const CHUNK = 10_000;

/** Logs many events on plants, of all types, faster than one could by HTTP. */
export async function logMany(
  app: App,
  userId: string,
  counts: Readonly<Record<string, number>>,
  apartMs = HOUR_MS,
): Promise<void> {
  const { events } = app.exportsOf(eventsPlugin);
  const places = Object.entries(counts).flatMap(([plantId, count]) =>
    Array.from({ length: count }, (_, place) => [plantId, place] as const),
  );
  while (places.length > 0) {
    const chunk = places
      .splice(0, CHUNK)
      .map(([plantId, place]) => anEvent(userId, plantId, place, apartMs));
    await app.unitOfWork.run(userId, (tx) => events.insertBulk(tx, chunk));
  }
  await app.unitOfWork.run(userId, (tx) => rebuildAll(app.derived, tx));
}

function anEvent(userId: string, plantId: string, place: number, apartMs: number): EventDocument {
  const now = new Date();
  const type = EVENT_TYPES[place % EVENT_TYPES.length] ?? 'watered';
  return {
    ...{ _id: newId(), userId, plantId: toStoredId(plantId), type, text: null },
    growthAmount: type === 'growth' ? 0.1 : null,
    growthUnit: type === 'growth' ? 'cm' : null,
    occurredAt: new Date(now.getTime() - (place % 8000) * apartMs),
    ...{ createdAt: now, updatedAt: now, deletedAt: null, photos: [] },
  };
}
