import { DAY_MS } from '../../src/core/time';
import type { Operation } from '../../src/plugins/operation';
import { Client, type Reply } from '../support/client';
import type { Ids } from '../support/operations';
import type { ProxiedService } from '../support/proxied-service';
import type { TestService, TestUser } from '../support/service';
import { type Held, heldBy, storedOf } from './account-contents';
import { gardenOf, operationRows, pathOf, validRequest } from '../support/program';

/** The account before each write: {@link BEFORE}. */
export interface Garden {
  user: TestUser;
  client: Client;
  /** The fern, its latest event, and its photo. */
  ids: Ids & { plant: string; event: string };
  /** The other plant and its event. */
  moss: { id: string; eventId: string };
}

const day = (number: number): string => `2026-01-0${number}T12:00:00Z`;

/** Creates an account in which a write can take effect. */
export async function gardenFor(service: TestService, write: Write): Promise<Garden> {
  const garden = await newGarden(service);
  const { effect } = write;
  const others = effect ? await effect.prepare?.(garden) : await gardenOf(garden.user);
  return { ...garden, ids: { ...garden.ids, ...others } };
}

async function newGarden(service: TestService): Promise<Garden> {
  const user = await service.user();
  const [fern, moss] = await Promise.all([
    user.plant({ name: 'Fern', wateringFrequencyDays: 7 }),
    user.plant({ name: 'Moss' }),
  ]);
  const photo = await user.photo({ plantId: fern.id, imagehostPublicId: 'leaf' });
  const [event, ofMoss] = await Promise.all([
    user.event(fern.id, { text: 'second', occurredAt: day(2), photoIds: [photo.id] }),
    user.event(moss.id, { text: 'spores', type: 'note' }),
    user.event(fern.id, { text: 'first', occurredAt: day(1) }),
    user.patch(`/api/plants/${fern.id}`, { primaryPhotoId: photo.id }).expect(200),
  ]);
  return {
    user,
    client: new Client(service.url, user.token),
    ids: { plant: fern.id, event: event.id, photo: photo.id },
    moss: { id: moss.id, eventId: ofMoss.id },
  };
}

const BEFORE: Held = {
  plants: ['Fern with leaf', 'Moss'],
  events: ['note spores', 'watered first', 'watered second with leaf'],
  photos: ['leaf of a plant'],
  due: ['Fern watered 2026-01-09'],
  timezone: 'UTC',
  used: { plants: 2, photos: 1 },
};

interface Effect {
  body?: (garden: Garden) => object;
  /** Creates what else it needs, and its target. */
  prepare?: (garden: Garden) => Promise<Ids>;
  /** The differences from before. */
  changes: Partial<Held>;
}

const LATER = new Date(Date.now() + 100 * DAY_MS).toISOString().slice(0, 10);

/** One request of each kind, and its effect if it takes effect once. */
const EFFECTS: Readonly<Record<string, Effect>> = {
  'POST /api/plants': {
    body: () => ({ name: 'Ivy' }),
    changes: { plants: ['Fern with leaf', 'Ivy', 'Moss'], used: { plants: 3, photos: 1 } },
  },
  'PATCH /api/plants/{id}': {
    body: () => ({ name: 'Palm' }),
    changes: { plants: ['Moss', 'Palm with leaf'], due: ['Palm watered 2026-01-09'] },
  },
  'DELETE /api/plants/{id}': {
    changes: {
      plants: ['Moss'],
      events: ['note spores'],
      photos: ['leaf of no plant'],
      due: [],
      used: { plants: 1, photos: 1 },
    },
  },
  'POST /api/plants/{id}/archive': {
    body: () => ({ reason: 'died' }),
    changes: { plants: ['Moss'], due: [], used: { plants: 1, photos: 1 } },
  },
  'POST /api/plants/{id}/unarchive': {
    prepare: async ({ user }) => {
      const { id } = await user.plant({ name: 'Ivy' });
      await user.post(`/api/plants/${id}/archive`, { reason: 'sold' }).expect(200);
      return { plant: id };
    },
    changes: { plants: ['Fern with leaf', 'Ivy', 'Moss'], used: { plants: 3, photos: 1 } },
  },
  'POST /api/locations/rename': {
    prepare: async ({ user }) => {
      const { id } = await user.plant({ name: 'Ivy', location: 'Hall' });
      return { plant: id };
    },
    body: () => ({ from: 'Hall', to: 'Loft' }),
    changes: { plants: ['Fern with leaf', 'Ivy in Loft', 'Moss'], used: { plants: 3, photos: 1 } },
  },
  'POST /api/photos': {
    body: () => ({
      imagehostPublicId: 'root',
      secureUrl: 'https://images.example.com/root.jpg',
      width: 800,
      height: 600,
      format: 'jpg',
    }),
    changes: { photos: ['leaf of a plant', 'root of no plant'], used: { plants: 2, photos: 2 } },
  },
  'PATCH /api/photos/{id}': {
    body: () => ({ x: 10, y: 20, width: 300, height: 300 }),
    changes: { photos: ['leaf of a plant, cropped 10 20 300 300'] },
  },
  'DELETE /api/photos/{id}': {
    changes: {
      plants: ['Fern', 'Moss'],
      events: ['note spores', 'watered first', 'watered second'],
      photos: [],
      used: { plants: 2, photos: 0 },
    },
  },
  'POST /api/plants/{id}/events': {
    body: () => ({ type: 'growth', growthAmount: 2, growthUnit: 'cm', text: 'frond' }),
    changes: { events: ['growth frond', ...BEFORE.events] },
  },
  'PATCH /api/events/{id}': {
    body: () => ({ text: 'moved', occurredAt: day(4) }),
    changes: {
      events: ['note spores', 'watered first', 'watered moved with leaf'],
      due: ['Fern watered 2026-01-11'],
    },
  },
  'DELETE /api/events/{id}': {
    changes: { events: ['note spores', 'watered first'], due: ['Fern watered 2026-01-08'] },
  },
  'POST /api/events': {
    body: ({ ids, moss }) => ({
      plantIds: [ids.plant, moss.id],
      text: 'both',
      occurredAt: day(5),
    }),
    changes: {
      events: ['note spores', 'watered both', 'watered both', ...BEFORE.events.slice(1)],
      due: ['Fern watered 2026-01-12'],
    },
  },
  'POST /api/events/delete': {
    body: ({ ids, moss }) => ({ eventIds: [ids.event, moss.eventId] }),
    changes: { events: ['watered first'], due: ['Fern watered 2026-01-08'] },
  },
  'POST /api/events/{id}/restore': {
    prepare: async ({ user, ids }) => {
      const { id } = await user.event(ids.plant, { text: 'third', occurredAt: day(3) });
      await user.delete(`/api/events/${id}`).expect(200);
      return { event: id };
    },
    changes: { events: [...BEFORE.events, 'watered third'], due: ['Fern watered 2026-01-10'] },
  },
  'POST /api/care/snooze': {
    body: ({ ids }) => ({ plantId: ids.plant, type: 'watered', until: LATER }),
    changes: { due: [`Fern watered ${LATER}`] },
  },
  'PATCH /api/account': {
    body: () => ({ timezone: 'Pacific/Kiritimati' }),
    changes: { timezone: 'Pacific/Kiritimati' },
  },
};

/** A kind of write, with a request. */
export interface Write {
  /** Those of its operation. */
  name: string;
  operation: Operation;
  /** Undefined if this file does not list it. */
  effect: Effect | undefined;
}

/** All kinds of writes of the API. */
export const writes: readonly Write[] = operationRows().flatMap(([name, operation]) =>
  operation.method === 'GET' ? [] : [{ name, operation, effect: EFFECTS[name] }],
);

/** Kinds of writes that only this file lists. */
export const strangers: readonly string[] = Object.keys(EFFECTS).filter(
  (known) => !writes.some(({ name }) => name === known),
);

/** The account after a write took effect once; undefined if this file does not list it. */
export function afterOne({ effect }: Write): Held | undefined {
  return effect && { ...BEFORE, ...effect.changes };
}

/** The contents of an account as people see them or, for writes that this file does not list, the counts. */
export function heldOf(
  { directUri }: ProxiedService,
  garden: Garden,
  { effect }: Write,
): Promise<unknown> {
  return effect ? heldBy(garden.client) : storedOf(directUri, garden.user.id);
}

/**
 * Sends it, always with the same key if it takes one.
 *
 * @param within how long to wait for the response, in milliseconds
 */
export function send(garden: Garden, write: Write): Promise<Reply> {
  const { operation, effect } = write;
  const path = pathOf(operation, garden.ids);
  const headers: Record<string, string> = operation.idempotent ? { 'idempotency-key': 'k' } : {};
  const body = effect ? effect.body?.(garden) : validRequest(operation, garden.ids).body;
  return garden.client.send(operation.method, path, { body, headers });
}
