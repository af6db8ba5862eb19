import { countThrough } from '../../../test/support/quotas';
import type { TestService, TestUser } from '../../../test/support/service';
import { expectError } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

const FREE = 3;
const PHOTO = {
  imagehostPublicId: 'garden/fern',
  secureUrl: 'https://images.example.com/fern.jpg',
  width: 800,
  height: 600,
  format: 'jpg',
};

let service: TestService;

beforeAll(async () => {
  service = await startService({ env: { TIER_FREE_PHOTOS: String(FREE), TIER_PRO_PHOTOS: '5' } });
});
afterAll(() => service.close());

const add = (user: TestUser) => () => user.post('/api/photos', PHOTO);

test('an account can have as many photos as its tier allows, then gets 403 with the number', async () => {
  const user = await service.user({ tier: 'free' });
  for (let count = 0; count < FREE; count += 1) await user.photo();
  expectError(await add(user)(), 403, 'photo_limit_reached', /\b3\b/);
});

test('a pro account has its own limit', async () => {
  const user = await service.user({ tier: 'pro' });
  expect(await countThrough(add(user), 7, 'photo_limit_reached')).toBe(5);
});

test('the limit is exact when thirty photos are added at once', async () => {
  const user = await service.user({ tier: 'free' });
  expect(await countThrough(add(user), 30, 'photo_limit_reached')).toBe(FREE);
  const photos = service.app.database.connection.collection('photos');
  expect(await photos.countDocuments({ userId: user.id })).toBe(FREE);
});

test('photos and plants are counted separately', async () => {
  const user = await service.user({ tier: 'free' });
  for (let count = 0; count < FREE + 1; count += 1) await user.plant();
  expect(await countThrough(add(user), FREE + 1, 'photo_limit_reached')).toBe(FREE);
});

test('deleting a plant frees no places of photos, since its photos stay', async () => {
  const user = await service.user({ tier: 'free' });
  const plant = await user.plant();
  for (let count = 0; count < FREE; count += 1) await user.photo({ plantId: plant.id });
  await user.delete(`/api/plants/${plant.id}`).expect(200);
  expectError(await add(user)(), 403, 'photo_limit_reached');
});

test('a refused photo does not count', async () => {
  const user = await service.user({ tier: 'free' });
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await user.post('/api/photos', { ...PHOTO, width: 0 }).expect(400);
    const plantId = '00000000-0000-4000-8000-000000000000';
    await user.post('/api/photos', { ...PHOTO, plantId }).expect(400);
  }
  expect(await countThrough(add(user), FREE + 1, 'photo_limit_reached')).toBe(FREE);
});

test('by default a free account can have 250 photos and a pro account 20,000', async () => {
  const byDefault = await startService();
  try {
    const accounts = byDefault.app.database.connection.collection('accounts');
    for (const [tier, limit] of [
      ['free', 250],
      ['pro', 20_000],
    ] as const) {
      const user = await byDefault.user({ tier });
      await user.photo();
      // So many requests would prove no more than the stored usage does.
      const kept = { 'usage.photos': limit - 2 };
      // Mongoose's type of an _id is ObjectId; that of an account is its name.
      await accounts.updateOne({ _id: user.id as never }, { $set: kept });
      expect(await countThrough(add(user), 4, 'photo_limit_reached')).toBe(2);
    }
  } finally {
    await byDefault.close();
  }
});
