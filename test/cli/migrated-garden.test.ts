import { mongo } from 'mongoose';

import { DAY_MS } from '../../src/core/time';
import { Client } from '../support/client';
import { Copy, listed } from '../support/copy';
import type { TestService, TestUser } from '../support/service';
import { bodyOf } from '../support/shapes';
import { freshDatabase, startService, userOf } from '../support/program';

let uri: string;
let client: mongo.MongoClient;
let service: TestService;
let user: TestUser;

beforeEach(async () => {
  uri = freshDatabase();
  client = new mongo.MongoClient(uri);
  service = await startService({ mongodbUri: uri });
  user = await service.user();
});
afterEach(async () => {
  await service.close();
  await client.db().dropDatabase();
  await client.close();
});

/** Stores data as an earlier version did, and continues with this one. */
async function asStoredBefore(migration: string, store: (db: mongo.Db) => Promise<unknown>) {
  await service.close();
  await store(client.db());
  await client.db().collection<{ _id: string }>('migrations').deleteOne({ _id: migration });
  service = await startService({ mongodbUri: uri });
  user = userOf(service.url, user.id, user.token);
}

/** A copy that is in sync before the migration, and again after it. */
async function copyOf(copy = new Copy()): Promise<Copy> {
  const phone = new Client(service.url, user.token);
  await copy.sync(phone);
  expect(copy.contents).toEqual(await listed(phone, [...copy.photos.keys()]));
  phone.close();
  return copy;
}

const inDays = (days: number): string =>
  new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

async function snoozedUntil(): Promise<Record<string, unknown>> {
  const { items } = bodyOf(await user.get('/api/care?dueBy=9999-12-31').expect(200));
  const due = items as { plantName: string; type: string; snoozedUntil: unknown }[]; // Compared.
  return Object.fromEntries(
    due.map((each) => [`${each.plantName} ${each.type}`, each.snoozedUntil]),
  );
}

test('snoozes that were stored without the time at which they were set still apply', async () => {
  const plants: Record<string, { id: string }> = {};
  for (const name of ['Fern', 'Palm', 'Moss']) {
    plants[name] = await user.plant({ name, fertilizerFrequencyDays: 60 });
  }
  const id = (name: string): string => plants[name]?.id ?? '';
  for (const name of ['Fern', 'Palm']) {
    await user.patch(`/api/plants/${id(name)}`, { wateringFrequencyDays: 30 }).expect(200);
    await user.event(id(name), { occurredAt: `${inDays(-10)}T12:00:00Z` });
  }
  const copy = await copyOf();
  const until = { Fern: inDays(40), Palm: inDays(5), Moss: inDays(40) };
  await asStoredBefore('plants/0002-snoozes', async (db) => {
    const collection = db.collection('plants');
    const moments = { wateringSnoozedAt: '', fertilizerSnoozedAt: '' };
    await collection.updateMany({}, { $unset: moments });
    for (const [name, wateringSnoozedUntil] of Object.entries(until)) {
      await collection.updateOne({ name }, { $set: { wateringSnoozedUntil } });
    }
  });
  // Palm's care was due later anyway, and Moss no longer had that frequency.
  const others = {
    'Fern fertilized': null,
    'Palm watered': null,
    'Palm fertilized': null,
    'Moss fertilized': null,
  };
  expect(await snoozedUntil()).toEqual({ ...others, 'Fern watered': until.Fern });
  await copyOf(copy);
  await user.patch(`/api/plants/${id('Moss')}`, { wateringFrequencyDays: 9 }).expect(200);
  const now = { ...others, 'Moss watered': null };
  await user.event(id('Fern'), { occurredAt: `${inDays(-1)}T00:00:00Z` });
  expect(await snoozedUntil()).toEqual({ ...now, 'Fern watered': until.Fern });
  await user.event(id('Fern'));
  expect(await snoozedUntil()).toEqual({ ...now, 'Fern watered': null });
});

test('photos without a plant are assigned to plants that show them', async () => {
  const photos: { id: string }[] = [];
  for (let count = 0; count < 5; count += 1) photos.push(await user.photo());
  // The fourth photo is shown nowhere.
  const [primary = '', inEvent = '', ofAnother = '', , gone = ''] = photos.map(({ id }) => id);
  const one = await user.plant({ primaryPhotoId: primary });
  const other = await user.plant();
  await user.event(other.id, { photoIds: [primary, inEvent] });
  await user.plant({ primaryPhotoId: ofAnother });
  await user.event(other.id, { photoIds: [ofAnother] });
  const deleted = await user.event(other.id, { photoIds: [gone] });
  await user.delete(`/api/events/${deleted.id}`).expect(200);
  const before = bodyOf(await user.get(`/api/photos/${ofAnother}`).expect(200));
  const withoutPlant = { _id: { $in: [primary, inEvent, gone].map((id) => new mongo.UUID(id)) } };
  await client
    .db()
    .collection<{ _id: mongo.UUID }>('photos')
    .updateMany(withoutPlant, { $set: { plantId: null } });
  const copy = await copyOf();
  await asStoredBefore('events/0003-photos-of-plants', () => Promise.resolve());
  const owners = [];
  for (const { id } of photos) {
    owners.push(bodyOf(await user.get(`/api/photos/${id}`).expect(200))['plantId']);
  }
  expect(owners).toEqual([one.id, other.id, before['plantId'], null, null]);
  await copyOf(copy);
});
