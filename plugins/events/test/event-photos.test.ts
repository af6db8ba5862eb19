import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, listOf, NOBODYS_ID } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

const MAX_PHOTOS = 20;

let service: TestService;
let user: TestUser;
let plantId: string;
let photos: { id: string }[];

beforeAll(async () => {
  service = await startService();
  user = await service.user();
  photos = [];
  const { id } = await user.plant();
  for (let index = 0; index <= MAX_PHOTOS; index += 1) {
    photos.push(await user.photo({ plantId: id, imagehostPublicId: `garden/${index}` }));
  }
});
beforeEach(async () => {
  plantId = (await user.plant()).id;
});
afterAll(() => service.close());

const ids = (some: readonly { id: string }[]): string[] => some.map(({ id }) => id);

async function shown(): Promise<unknown> {
  const page = await user.get(`/api/plants/${plantId}/events`).expect(200);
  const [event] = bodyOf(page)['items'] as Record<string, unknown>[]; // The tests compare them.
  return event?.['photos'];
}

test('photos are shown in full, in the given order', async () => {
  const [a, b, c] = photos;
  for (const order of [
    [c, a, b],
    [b, c, a],
  ]) {
    const named = order.flatMap((photo) => photo ?? []);
    const event = await user.event(plantId, { photoIds: ids(named) });
    expect(event['photos']).toEqual(named);
    expect(await shown()).toEqual(named);
    await user.delete(`/api/events/${event.id}`).expect(200);
  }
});

test('an event can have twenty photos', async () => {
  const event = await user.event(plantId, { photoIds: ids(photos.slice(0, MAX_PHOTOS)) });
  expect(event['photos']).toEqual(photos.slice(0, MAX_PHOTOS));
  const creation = await user.post(`/api/plants/${plantId}/events`, { photoIds: ids(photos) });
  expectError(creation, 400, 'validation_error', /\bphotoIds\b/);
  const change = await user.patch(`/api/events/${event.id}`, { photoIds: ids(photos) });
  expectError(change, 400, 'validation_error', /\bphotoIds\b/);
});

test('a repeated photo id is refused, also in upper case', async () => {
  const [{ id } = { id: '' }, other] = photos;
  const event = await user.event(plantId);
  for (const photoIds of [
    [id, id],
    [id, other?.id, id],
    [id, id.toUpperCase()],
  ]) {
    const creation = await user.post(`/api/plants/${plantId}/events`, { photoIds });
    expectError(creation, 400, 'validation_error', /\bphotoIds\b/);
    const change = await user.patch(`/api/events/${event.id}`, { photoIds });
    expectError(change, 400, 'validation_error', /\bphotoIds\b/);
  }
});

test('a photo id in upper case refers to the same photo', async () => {
  const [photo] = photos;
  const event = await user.event(plantId, { photoIds: [photo?.id.toUpperCase()] });
  expect(event['photos']).toEqual([photo]);
});

test('a list that is too long is refused for its length, whatever its items', async () => {
  const photoIds = Array.from({ length: 2500 }, () => 'not an id');
  const creation = await user.post(`/api/plants/${plantId}/events`, { photoIds });
  expectError(creation, 400, 'validation_error', /^photoIds must contain at most 20 items /);
});

test('changing photoIds replaces all photos, in the given order', async () => {
  const [a, b, c, d] = ids(photos);
  const event = await user.event(plantId, { text: 'Kept', photoIds: [a, b] });
  for (const photoIds of [[c], [b, a], [d, c, b, a], [], [a]]) {
    const change = await user.patch(`/api/events/${event.id}`, { photoIds }).expect(200);
    const { photos: now, text } = bodyOf(change);
    expect({ ids: ids(listOf({ body: now })), text }).toEqual({ ids: photoIds, text: 'Kept' });
    expect(await shown()).toEqual(now);
  }
});

test('changing anything else keeps the photos', async () => {
  const event = await user.event(plantId, { photoIds: ids(photos.slice(0, 2)) });
  const change = await user.patch(`/api/events/${event.id}`, { text: 'x' }).expect(200);
  expect(bodyOf(change)['photos']).toEqual(photos.slice(0, 2));
});

test('photos that do not exist or are another user’s are refused, and nothing is stored', async () => {
  const other = await service.user();
  const foreign = await other.photo();
  const good = photos[0]?.id;
  const event = await user.event(plantId, { text: 'Before', photoIds: [good] });
  for (const bad of [NOBODYS_ID, foreign.id, plantId, event.id]) {
    const body = { text: 'After', photoIds: [good, bad] };
    const creation = await user.post(`/api/plants/${plantId}/events`, body);
    expectError(creation, 400, 'photo_not_found', /\bphotoIds\b/);
    const change = await user.patch(`/api/events/${event.id}`, body);
    expectError(change, 400, 'photo_not_found', /\bphotoIds\b/);
  }
  const page = await user.get(`/api/plants/${plantId}/events`).expect(200);
  expect(bodyOf(page)['items']).toEqual([event]);
});

test('events show a photo with its later crop', async () => {
  const photo = await user.photo();
  const event = await user.event(plantId, { photoIds: [photo.id] });
  const crop = { x: 1, y: 2, width: 100, height: 101 };
  const cropped = await user.patch(`/api/photos/${photo.id}`, crop).expect(200);
  expect(await shown()).toEqual([cropped.body]);
  const time = Date.parse(String(event['occurredAt']));
  const path = `/api/plants/${plantId}/events/month?monthStart=${time}&monthEnd=${time}`;
  expect((await user.get(path).expect(200)).body).toEqual([
    { ...event, photos: [cropped.body as unknown] },
  ]);
  const unchanged = await user.patch(`/api/events/${event.id}`, {}).expect(200);
  expect(bodyOf(unchanged)['photos']).toEqual([cropped.body]);
});

test('a photo can be in several events and be the primary photo of a plant', async () => {
  const [photo] = photos;
  const first = await user.event(plantId, { photoIds: [photo?.id] });
  const second = await user.event(plantId, { photoIds: [photo?.id] });
  expect([first['photos'], second['photos']]).toEqual([[photo], [photo]]);
  await user.patch(`/api/plants/${plantId}`, { primaryPhotoId: photo?.id }).expect(200);
});
