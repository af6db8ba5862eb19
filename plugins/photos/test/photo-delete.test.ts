import { assistant, tool } from '../../../test/mcp/support';
import { eventPage } from '../../../test/support/paging';
import { queriesOf } from '../../../test/support/profiler';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, listOf } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService({
    jobs: false,
    env: { TIER_FREE_PHOTOS: '1', ANSWER_CACHE_MB: '0' },
  });
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

test('a deleted photo disappears from its path, the list, insights and the account', async () => {
  const photo = await user.photo();
  const other = await user.photo();
  const answer = await user.delete(`/api/photos/${photo.id}`).expect(200);
  expect(answer.body).toEqual({ success: true });
  expectError(await user.get(`/api/photos/${photo.id}`), 404, 'photo_not_found');
  expectError(await user.delete(`/api/photos/${photo.id}`), 404, 'photo_not_found');
  expect(bodyOf(await user.get('/api/photos'))['items']).toEqual([other]);
  expect((await user.get('/api/insights')).body).toMatchObject({ overview: { totalPhotos: 1 } });
});

test('its events and plants stay, without the photo', async () => {
  const [photo, other] = [await user.photo(), await user.photo()];
  const plant = await user.plant({ primaryPhotoId: photo.id });
  const event = await user.event(plant.id, { photoIds: [photo.id, other.id] });
  await user.delete(`/api/photos/${photo.id}`).expect(200);
  const shown = bodyOf(await user.get(`/api/plants/${plant.id}`).expect(200));
  expect(shown).toMatchObject({ primaryPhotoId: null, updatedAt: plant['updatedAt'] });
  expect(shown).not.toHaveProperty('primaryPhoto');
  expect(listOf(await user.get('/api/plants'))).toEqual([shown]);
  const { items } = await eventPage(user, plant.id);
  expect(items).toEqual([{ ...event, photos: [{ ...other, plantId: plant.id }] }]);
  const changed = await user.patch(`/api/events/${event.id}`, { text: 'x' }).expect(200);
  expect(changed.body).toMatchObject({ photos: [{ id: other.id }] });
});

test('a deleted photo can no longer be used', async () => {
  const photo = await user.photo();
  const plant = await user.plant();
  await user.delete(`/api/photos/${photo.id}`).expect(200);
  const ofPlant = await user.patch(`/api/plants/${plant.id}`, { primaryPhotoId: photo.id });
  expectError(ofPlant, 400, 'photo_not_found');
  const ofEvent = await user.post(`/api/plants/${plant.id}/events`, { photoIds: [photo.id] });
  expectError(ofEvent, 400, 'photo_not_found');
});

test('a deleted photo frees one place at once', async () => {
  const free = await service.user({ tier: 'free' });
  const photo = await free.photo();
  await free.delete(`/api/photos/${photo.id}`).expect(200);
  await free.delete(`/api/photos/${photo.id}`).expect(404);
  const { secureUrl, imagehostPublicId, width, height, format } = photo;
  const body = { secureUrl, imagehostPublicId, width, height, format };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => free.post('/api/photos', body)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403, 403]);
});

test('deleting it changes none of its events', async () => {
  const photo = await user.photo();
  const plant = await user.plant({ primaryPhotoId: photo.id });
  for (let index = 0; index < 5; index += 1) await user.event(plant.id, { photoIds: [photo.id] });
  const queries = await queriesOf(service, () =>
    user.delete(`/api/photos/${photo.id}`).expect(200),
  );
  const of = (collection: string) => queries.filter((query) => query.collection === collection);
  expect(of('events')).toEqual([]);
  expect(of('plants')).toMatchObject([{ docsExamined: 1 }]);
});

test('with If-Match, a photo is deleted only in that state', async () => {
  const photo = await user.photo();
  const path = `/api/photos/${photo.id}`;
  const etag = String((await user.get(path)).headers['etag']);
  await user.patch(path, { x: 0, y: 0, width: 9, height: 9 }).expect(200);
  const refused = await user.delete(path).set('If-Match', etag);
  expectError(refused, 412, 'precondition_failed');
  await user.get(path).expect(200);
});

test('an assistant lists photos and deletes one', async () => {
  const me = await assistant(service);
  const photo = await me.user.photo();
  expect(await tool(me, 'list_photos')).toMatchObject({ items: [photo] });
  expect(await tool(me, 'delete_photo', { id: photo.id })).toEqual({ success: true });
  expect(await tool(me, 'list_photos')).toMatchObject({ items: [] });
});
