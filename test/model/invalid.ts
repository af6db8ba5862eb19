import fc from 'fast-check';

import { record } from '../support/client';
import { type Actor, same } from './actor';
import { command } from './command';

/** A request that must be refused: its path, its body, and the field that the error must name. */
interface Invalid {
  method: 'GET' | 'POST' | 'PATCH';
  on: 'plants' | 'plant' | 'its events' | 'event' | 'photos' | 'photo';
  body?: object;
  query?: string;
  names: string;
  code?: string;
}

const photo = {
  imagehostPublicId: 'a',
  secureUrl: 'https://a.example/b',
  width: 1,
  height: 1,
  format: 'png',
};
const crop = { x: 0, y: 0, width: 1, height: 1 };
const TWICE = '0198c0de-0000-7000-8000-000000000001';

const onPlants: [body: object, names: string][] = [
  [{}, 'name'],
  [{ name: '' }, 'name'],
  [{ name: 'x'.repeat(101) }, 'name'],
  [{ name: null }, 'name'],
  [{ name: 'Fern', species: 'x'.repeat(101) }, 'species'],
  [{ name: 'Fern', notes: 'x'.repeat(1001) }, 'notes'],
  [{ name: 'Fern', lightNotes: 'x'.repeat(501) }, 'lightNotes'],
  [{ name: 'Fern', wateringFrequencyDays: 0 }, 'wateringFrequencyDays'],
  [{ name: 'Fern', wateringFrequencyDays: '7' }, 'wateringFrequencyDays'],
  [{ name: 'Fern', fertilizerFrequencyDays: 366 }, 'fertilizerFrequencyDays'],
  [{ name: 'Fern', fertilizerFrequencyDays: 1.5 }, 'fertilizerFrequencyDays'],
  [{ name: 'Fern', lightRequirement: 'dark' }, 'lightRequirement'],
  [{ name: 'Fern', toxic: 1 }, 'toxic'],
  [{ name: 'Fern', primaryPhotoId: 'photo' }, 'primaryPhotoId'],
  [{ name: 'Fern', colour: 'green' }, 'colour'],
];

const onEvents: [body: object, names: string][] = [
  [{ text: 'x'.repeat(2001) }, 'text'],
  [{ occurredAt: '2026-02-30T00:00:00Z' }, 'occurredAt'],
  [{ occurredAt: '2026-02-03' }, 'occurredAt'],
  [{ occurredAt: '2026-02-03T10:00:00' }, 'occurredAt'],
  [{ occurredAt: 1767225600000 }, 'occurredAt'],
  [{ growthAmount: 0 }, 'growthAmount'],
  [{ growthAmount: '3' }, 'growthAmount'],
  [{ growthUnit: 'm' }, 'growthUnit'],
  [{ photoIds: [TWICE, TWICE] }, 'photoIds'],
  [{ photoIds: ['photo'] }, 'photoIds'],
  [{ plantId: TWICE }, 'plantId'],
];

const requests: Invalid[] = [
  ...onPlants.map(([body, names]) => ({
    method: 'POST' as const,
    on: 'plants' as const,
    body,
    names,
  })),
  ...onPlants
    .slice(1)
    .map(([body, names]) => ({ method: 'PATCH' as const, on: 'plant' as const, body, names })),
  { method: 'PATCH', on: 'plant', body: { toxic: null }, names: 'toxic' },
  ...onEvents.map(([body, names]) => ({
    method: 'POST' as const,
    on: 'its events' as const,
    body,
    names,
  })),
  ...onEvents.map(([body, names]) => ({
    method: 'PATCH' as const,
    on: 'event' as const,
    body,
    names,
  })),
  { method: 'POST', on: 'its events', body: { type: 'pruned' }, names: 'type' },
  { method: 'POST', on: 'its events', body: { type: 'note', isJournal: true }, names: 'type' },
  { method: 'POST', on: 'its events', body: { text: null }, names: 'text' },
  { method: 'PATCH', on: 'event', body: { type: 'note' }, names: 'type' },
  { method: 'PATCH', on: 'event', body: { growthAmount: null }, names: 'growthAmount' },
  { method: 'POST', on: 'photos', body: { ...photo, width: 0 }, names: 'width' },
  { method: 'POST', on: 'photos', body: { ...photo, bytes: -1 }, names: 'bytes' },
  { method: 'POST', on: 'photos', body: { ...photo, format: '' }, names: 'format' },
  {
    method: 'POST',
    on: 'photos',
    body: { ...photo, secureUrl: 'ftp://a.example' },
    names: 'secureUrl',
  },
  { method: 'PATCH', on: 'photo', body: { ...crop, x: -1 }, names: 'x' },
  { method: 'PATCH', on: 'photo', body: { x: 0, y: 0, width: 1 }, names: 'height' },
  { method: 'PATCH', on: 'photo', body: { ...crop, cropX: 1 }, names: 'cropX' },
  { method: 'GET', on: 'its events', query: '?limit=0', names: 'limit' },
  { method: 'GET', on: 'its events', query: '?limit=101', names: 'limit' },
  { method: 'GET', on: 'its events', query: '?limit=ten', names: 'limit' },
  { method: 'GET', on: 'its events', query: '?limit=1&limit=2', names: 'limit' },
  {
    method: 'GET',
    on: 'its events',
    query: '?cursor=bm9uZQ',
    names: 'cursor',
    code: 'invalid_cursor',
  },
];

/** Paths of the actor's records; without records, another error would come first. */
const first = (ids: Iterable<string>, path: (id: string) => string) =>
  [...ids].slice(0, 1).map(path);

async function expectRefused(actor: Actor, one: Invalid): Promise<void> {
  const { garden } = actor;
  const [path] = {
    plants: garden.plants.size < garden.account.maxPlants ? ['/api/plants'] : [],
    plant: first(garden.plants.keys(), (id) => `/api/plants/${id}`),
    'its events': first(garden.plants.keys(), (id) => `/api/plants/${id}/events`),
    event: first(garden.events.keys(), (id) => `/api/events/${id}`),
    photos: garden.photos.size < garden.account.maxPhotos ? ['/api/photos'] : [],
    photo: first(garden.photos.keys(), (id) => `/api/photos/${id}`),
  }[one.on];
  if (path === undefined) return;
  const whole = `${path}${one.query ?? ''}`;
  const { status, body } = await actor.send(one.method, whole, one.body);
  const what = `${one.method} ${whole} ${JSON.stringify(one.body ?? '')}`;
  const { code, error } = record(body);
  same({ status, code }, { status: 400, code: one.code ?? 'validation_error' }, what);
  same(String(error).includes(one.names), true, `${what} names ${one.names}: ${String(error)}`);
}

/** Sends requests that must be refused; later comparisons show that they had no effect. */
export const invalidCommand = command(
  'invalid requests',
  fc.nat(requests.length - 1),
  async (actor, start) => {
    for (const one of requests.slice(start, start + 5)) await expectRefused(actor, one);
  },
);
