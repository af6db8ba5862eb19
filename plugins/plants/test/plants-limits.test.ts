import { countThrough } from '../../../test/support/quotas';
import type { TestService, TestUser } from '../../../test/support/service';
import { expectError, listOf } from '../../../test/support/shapes';
import { accountsPlugin, startService } from '../../../test/support/program';

const FREE = 3;

let service: TestService;

beforeAll(async () => {
  service = await startService({ env: { TIER_FREE_PLANTS: String(FREE), TIER_PRO_PLANTS: '5' } });
});
afterAll(() => service.close());

const add = (user: TestUser) => () => user.post('/api/plants', { name: 'Fern' });

async function countPlants(user: TestUser): Promise<number> {
  return listOf(await user.get('/api/plants').expect(200)).length;
}

test('an account can have as many plants as its tier allows, then gets 403 with the number', async () => {
  const user = await service.user({ tier: 'free' });
  for (let count = 0; count < FREE; count += 1) await user.plant();
  expectError(await add(user)(), 403, 'plant_limit_reached', /\b3\b/);
  expect(await countPlants(user)).toBe(FREE);
});

test('a pro account has its own limit', async () => {
  const user = await service.user({ tier: 'pro' });
  expect(await countThrough(add(user), 7, 'plant_limit_reached')).toBe(5);
});

test('the limit is exact when thirty plants are added at once', async () => {
  const user = await service.user({ tier: 'free' });
  expect(await countThrough(add(user), 30, 'plant_limit_reached')).toBe(FREE);
  expect(await countPlants(user)).toBe(FREE);
});

test('the limit is exact when two servers add plants at once', async () => {
  const second = await startService({
    env: { TIER_FREE_PLANTS: String(FREE) },
    mongodbUri: service.mongodbUri,
  });
  try {
    const user = await service.user({ tier: 'free' });
    const there = await second.user({ id: user.id, tier: 'free' });
    const [here, elsewhere] = await Promise.all([
      countThrough(add(user), 15, 'plant_limit_reached'),
      countThrough(add(there), 15, 'plant_limit_reached'),
    ]);
    expect(here + elsewhere).toBe(FREE);
    expect(await countPlants(user)).toBe(FREE);
  } finally {
    await second.close();
  }
});

test('a deleted plant frees its place at once, and only one', async () => {
  const user = await service.user({ tier: 'free' });
  const plants = await Promise.all(Array.from({ length: FREE }, () => user.plant()));
  await user.delete(`/api/plants/${plants[0]?.id ?? ''}`).expect(200);
  await user.delete(`/api/plants/${plants[0]?.id ?? ''}`).expect(404);
  await user.plant();
  expectError(await add(user)(), 403, 'plant_limit_reached');
});

test('plants that are added and deleted concurrently never exceed the limit, and lose no place', async () => {
  const user = await service.user({ tier: 'free' });
  const plants = await Promise.all(Array.from({ length: FREE }, () => user.plant()));
  const [added] = await Promise.all([
    countThrough(add(user), 20, 'plant_limit_reached'),
    ...plants.map(({ id }) => user.delete(`/api/plants/${id}`).expect(200)),
  ]);
  expect(await countPlants(user)).toBe(added);
  expect(await countThrough(add(user), FREE + 1, 'plant_limit_reached')).toBe(FREE - added);
});

test('a refused plant does not count', async () => {
  const user = await service.user({ tier: 'free' });
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await user.post('/api/plants', { name: '' }).expect(400);
    const missing = { name: 'Fern', primaryPhotoId: '00000000-0000-4000-8000-000000000000' };
    await user.post('/api/plants', missing).expect(400);
  }
  expect(await countThrough(add(user), FREE + 1, 'plant_limit_reached')).toBe(FREE);
});

test('an account above the limit of a new tier can change its plants, but not add any', async () => {
  const user = await service.user({ tier: 'pro' });
  const plants = await Promise.all(Array.from({ length: 5 }, () => user.plant()));
  await service.app.exportsOf(accountsPlugin).changeAccount(user.id, { tier: 'free' });
  expect(await countPlants(user)).toBe(5);
  await user.patch(`/api/plants/${plants[0]?.id ?? ''}`, { name: 'Oak' }).expect(200);
  expectError(await add(user)(), 403, 'plant_limit_reached');
});

test('by default a free account can have 25 plants and a pro account 1,000', async () => {
  const byDefault = await startService();
  try {
    const free = await byDefault.user({ tier: 'free' });
    expect(await countThrough(add(free), 27, 'plant_limit_reached')).toBe(25);
    const pro = await byDefault.user({ tier: 'pro' });
    await pro.plant();
    // A thousand requests would prove no more than the stored usage does.
    const accounts = byDefault.app.database.connection.collection('accounts');
    const kept = { 'usage.plants': 998 };
    // Mongoose's type of an _id is ObjectId; that of an account is its name.
    await accounts.updateOne({ _id: pro.id as never }, { $set: kept });
    expect(await countThrough(add(pro), 4, 'plant_limit_reached')).toBe(2);
  } finally {
    await byDefault.close();
  }
});
