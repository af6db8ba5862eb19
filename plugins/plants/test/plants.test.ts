import { randomUUID } from 'node:crypto';

import { mongo } from 'mongoose';

import type { TestService, TestUser } from '../../../test/support/service';
import { barePlant, bodyOf, expectError, listOf, NOBODYS_ID } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

const EVERYTHING = {
  name: 'Monstera',
  species: 'Monstera deliciosa',
  location: 'Hall',
  notes: 'A present',
  wateringFrequencyDays: 7,
  wateringNotes: 'From below',
  lightRequirement: 'bright_indirect',
  lightNotes: 'No noon sun',
  soilType: 'Aroid mix',
  potType: 'terracotta',
  fertilizerType: 'Liquid',
  fertilizerFrequencyDays: 30,
  fertilizerNotes: 'Half strength',
  humidityPreference: 'high',
  temperatureNotes: 'Above 15 degrees',
  mossPoleNeeded: true,
  toxic: true,
  careNotes: 'Wipe the leaves',
};

test('a plant with only a name has all other fields as null or their default', async () => {
  const response = await user.post('/api/plants', { name: 'Fern' }).expect(201);
  expect(response.body).toEqual(barePlant(user.id, 'Fern'));
  expect(bodyOf(response)['updatedAt']).toBe(bodyOf(response)['createdAt']);
});

test('a plant is stored as sent', async () => {
  const response = await user.post('/api/plants', EVERYTHING).expect(201);
  expect(response.body).toEqual({ ...barePlant(user.id, ''), ...EVERYTHING });
});

test('a plant is the same in the response to its creation, when read, and in the list', async () => {
  const photo = await user.photo();
  const plant = await user.plant({ ...EVERYTHING, primaryPhotoId: photo.id });
  const one = await user.get(`/api/plants/${plant.id}`).expect(200);
  expect(one.body).toEqual(plant);
  const list = await user.get('/api/plants').expect(200);
  expect(list.body).toEqual([plant]);
});

test('a new account has an empty list of plants', async () => {
  const list = await user.get('/api/plants').expect(200);
  expect(list.body).toEqual([]);
});

test('the list has all plants of the account, and no others', async () => {
  const other = await service.user();
  const mine = await Promise.all(Array.from({ length: 120 }, () => user.plant()));
  await other.plant();
  const list = await user.get('/api/plants').expect(200);
  expect(
    listOf(list)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(mine.map(({ id }) => id).sort());
});

test('the list is ordered by createdAt, then by id', async () => {
  await user.plant();
  const plants = service.app.database.connection.collection('plants');
  const [known] = await plants.find({ userId: user.id }).toArray();
  const moments = ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.001Z'];
  const copies = Array.from({ length: 30 }, (_, index) => ({
    ...known,
    _id: new mongo.UUID(randomUUID()),
    userId: user.id,
    createdAt: new Date(moments[index % moments.length] ?? 0),
  }));
  // Ids that do not sort by time, as those of other UUID versions; Mongoose's type expects ObjectIds.
  await plants.insertMany(copies as object as mongo.OptionalId<mongo.Document>[]);
  const list = listOf(await user.get('/api/plants').expect(200));
  const keys = list.map(({ createdAt, id }) => `${String(createdAt)} ${id}`);
  expect(keys).toHaveLength(31);
  expect(keys).toEqual([...keys].sort());
});

test('the id of a plant may be in upper case, and is returned in lower case', async () => {
  const { id } = await user.plant();
  const path = `/api/plants/${id.toUpperCase()}`;
  const read = await user.get(path).expect(200);
  expect(bodyOf(read)['id']).toBe(id);
  const change = await user.patch(path, { name: 'Oak' }).expect(200);
  expect(bodyOf(change)['id']).toBe(id);
  await user.delete(path).expect(200);
});

test('a deleted plant disappears at once from its path, the list and locations', async () => {
  const plant = await user.plant({ location: 'Attic' });
  const response = await user.delete(`/api/plants/${plant.id}`).expect(200);
  expect(response.body).toEqual({ success: true });
  expectError(await user.get(`/api/plants/${plant.id}`), 404, 'plant_not_found');
  expect((await user.get('/api/plants')).body).toEqual([]);
  expect((await user.get('/api/locations')).body).toEqual([]);
});

test('a plant can be deleted only once', async () => {
  const { id } = await user.plant();
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => user.delete(`/api/plants/${id}`)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
  expectError(await user.delete(`/api/plants/${id}`), 404, 'plant_not_found');
});

test('reading, changing or deleting a plant that does not exist is 404', async () => {
  const path = `/api/plants/${NOBODYS_ID}`;
  expectError(await user.get(path), 404, 'plant_not_found');
  expectError(await user.patch(path, { name: 'Oak' }), 404, 'plant_not_found');
  expectError(await user.patch(path, {}), 404, 'plant_not_found');
  expectError(await user.delete(path), 404, 'plant_not_found');
});

test('two plants may be equal except for their ids', async () => {
  const [first, second] = await Promise.all([user.plant(EVERYTHING), user.plant(EVERYTHING)]);
  expect(first.id).not.toBe(second.id);
});
