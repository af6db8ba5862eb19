import { resetClock, setClock } from '../../../test/support/clock';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, listOf, NOBODYS_ID } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
  user = await service.user();
});
afterAll(() => service.close());
afterEach(resetClock);

const DETAILS = {
  species: 'Nephrolepis exaltata',
  location: 'Hall',
  notes: 'A present',
  wateringFrequencyDays: 7,
  wateringNotes: 'From below',
  lightRequirement: 'medium',
  lightNotes: 'No noon sun',
  soilType: 'Peat',
  potType: 'ceramic',
  fertilizerType: 'Liquid',
  fertilizerFrequencyDays: 30,
  fertilizerNotes: 'Half strength',
  humidityPreference: 'high',
  temperatureNotes: 'Above 15 degrees',
  careNotes: 'Mist it',
};
const ESSENTIALS = { name: 'Fern', mossPoleNeeded: true, toxic: true };

test('an empty change returns the plant and changes nothing, not even updatedAt', async () => {
  const plant = await user.plant({ ...ESSENTIALS, ...DETAILS });
  await user.event(plant.id);
  const before = await user.get(`/api/plants/${plant.id}`).expect(200);
  const change = await user.patch(`/api/plants/${plant.id}`, {}).expect(200);
  expect(change.body).toEqual(before.body);
  const after = await user.get(`/api/plants/${plant.id}`).expect(200);
  expect(after.body).toEqual(before.body);
});

test('a change of one field, and null to clear one, changes only updatedAt besides', async () => {
  const photo = await user.photo();
  let plant = await user.plant({ name: 'Fern', toxic: true, primaryPhotoId: photo.id });
  const values = { ...ESSENTIALS, ...DETAILS, name: 'Oak', toxic: false };
  const nulls = Object.fromEntries(Object.keys(DETAILS).map((field) => [field, null]));
  let now = Date.now() + 60_000;
  for (const [field, value] of [...Object.entries(values), ...Object.entries(nulls)]) {
    const updatedAt = new Date((now += 1)).toISOString();
    setClock(updatedAt);
    const change = await user.patch(`/api/plants/${plant.id}`, { [field]: value }).expect(200);
    const expected = { ...plant, [field]: value, updatedAt };
    expect(change.body).toEqual(expected);
    expect((await user.get(`/api/plants/${plant.id}`).expect(200)).body).toEqual(expected);
    plant = expected;
  }
});

test('updatedAt is the time of the last change', async () => {
  const { id } = await user.plant();
  const from = Date.now();
  const change = await user.patch(`/api/plants/${id}`, { name: 'Oak' }).expect(200);
  const updatedAt = Date.parse(String(bodyOf(change)['updatedAt']));
  expect(updatedAt).toBeGreaterThanOrEqual(from);
  expect(updatedAt).toBeLessThanOrEqual(Date.now());
});

test('an unknown field is refused by name, and valid fields beside it are not stored', async () => {
  const plant = await user.plant();
  const change = await user.patch(`/api/plants/${plant.id}`, { name: 'Oak', colour: 'green' });
  expectError(change, 400, 'validation_error', /\bcolour\b/);
  const after = await user.get(`/api/plants/${plant.id}`).expect(200);
  expect(after.body).toEqual(plant);
});

test('the plant and the list embed the whole primary photo in its current state', async () => {
  const photo = await user.photo();
  const plant = await user.plant({ primaryPhotoId: photo.id });
  expect(plant).toMatchObject({ primaryPhotoId: photo.id, primaryPhoto: { id: photo.id } });
  const crop = { x: 0, y: 0, width: 100, height: 100 };
  const cropped = await user.patch(`/api/photos/${photo.id}`, crop).expect(200);
  const list = listOf(await user.get('/api/plants').expect(200));
  const listed = list.find(({ id }) => id === plant.id);
  expect(listed).toEqual({ ...plant, primaryPhoto: cropped.body as unknown });
});

test('a plant without a primary photo has no field primaryPhoto', async () => {
  const photo = await user.photo();
  const plant = await user.plant({ primaryPhotoId: photo.id });
  const change = await user.patch(`/api/plants/${plant.id}`, { primaryPhotoId: null });
  expect(change.body).toMatchObject({ primaryPhotoId: null });
  expect(change.body).not.toHaveProperty('primaryPhoto');
  const after = await user.get(`/api/plants/${plant.id}`).expect(200);
  expect(after.body).toEqual(change.body);
});

test('a primary photo can be set and replaced later, by its id in either case', async () => {
  const [first, second] = await Promise.all([user.photo(), user.photo()]);
  const { id } = await user.plant({ primaryPhotoId: first.id });
  const change = await user.patch(`/api/plants/${id}`, { primaryPhotoId: second.id.toUpperCase() });
  expect(change.body).toMatchObject({ primaryPhotoId: second.id, primaryPhoto: { id: second.id } });
});

test('a primary photo that does not exist or is another user’s is refused, and nothing is stored', async () => {
  const other = await service.user();
  const foreign = await other.photo();
  const plant = await user.plant();
  const before = listOf(await user.get('/api/plants').expect(200));
  for (const primaryPhotoId of [NOBODYS_ID, foreign.id, plant.id]) {
    const creation = await user.post('/api/plants', { name: 'Oak', primaryPhotoId });
    expectError(creation, 400, 'photo_not_found', /\bprimaryPhotoId\b/);
    const change = await user.patch(`/api/plants/${plant.id}`, { name: 'Oak', primaryPhotoId });
    expectError(change, 400, 'photo_not_found', /\bprimaryPhotoId\b/);
  }
  const after = await user.get('/api/plants').expect(200);
  expect(after.body).toEqual(before);
});

test('concurrent changes of different fields are all stored', async () => {
  const { id } = await user.plant();
  const fields = Object.entries(DETAILS);
  await Promise.all(
    fields.map(([field, value]) => user.patch(`/api/plants/${id}`, { [field]: value }).expect(200)),
  );
  const after = await user.get(`/api/plants/${id}`).expect(200);
  expect(after.body).toMatchObject(DETAILS);
});
