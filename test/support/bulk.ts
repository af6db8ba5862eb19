import eventsPlugin, { EVENT_TYPES, type EventDocument } from '../../plugins/events';
import type { App } from '../../src/app/app';
import type { Account } from '../../src/core/identity';
import { newId, toStoredId } from '../../src/core/ids';
import { calendarOf, HOUR_MS } from '../../src/core/time';
import { rebuildAll } from '../../src/app/reconcile';

const CHUNK = 10_000;

/** Logs many events of all types, faster than over HTTP. */
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
    const chunk = places.splice(0, CHUNK);
    await app.writeQueue.run(userId, (tx) => {
      const eventOf = ([plantId, place]: (typeof chunk)[number]) =>
        anEvent(tx.account, plantId, place, apartMs);
      return events.insertBulk(tx, chunk.map(eventOf));
    });
  }
  await app.writeQueue.run(userId, (tx) => rebuildAll(app.derived, tx));
}

function anEvent(
  { id: userId, timezone }: Account,
  plantId: string,
  place: number,
  apartMs: number,
): EventDocument {
  const now = new Date();
  const occurredAt = new Date(now.getTime() - (place % 8000) * apartMs);
  const type = EVENT_TYPES[place % EVENT_TYPES.length] ?? 'watered';
  return {
    _id: newId(),
    userId,
    plantId: toStoredId(plantId),
    type,
    text: null,
    growthAmount: type === 'growth' ? 0.1 : null,
    growthUnit: type === 'growth' ? 'cm' : null,
    occurredAt,
    occurredOn: calendarOf(timezone)(occurredAt),
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    photos: [],
  };
}
