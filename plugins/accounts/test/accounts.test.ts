import type { TestService, TestUser } from '../../../test/support/service';
import { expectError } from '../../../test/support/shapes';
import type { Accounts } from '..';
import { accountsPlugin, startService } from '../../../test/support/program';

const FREE = 2;
const PRO = 4;

let service: TestService;
let accounts: Accounts;

beforeAll(async () => {
  const env = { TIER_FREE_PLANTS: String(FREE), TIER_PRO_PLANTS: String(PRO) };
  service = await startService({ env });
  accounts = service.app.exportsOf(accountsPlugin);
});
afterAll(() => service.close());

const newToken = (userId: string) => ({ userId, scopes: [], name: 'test', expiresInSeconds: 60 });

async function monthView(user: TestUser, plantId: string): Promise<number> {
  const path = `/api/plants/${plantId}/events/month?monthStart=0&monthEnd=0`;
  return (await user.get(path)).status;
}

test('the first token creates its account: free and in UTC by default', async () => {
  await accounts.tokens.createToken(newToken('ada'));
  expect(await accounts.account('ada')).toMatchObject({ id: 'ada', tier: 'free', timezone: 'UTC' });
});

test('another token leaves the account unchanged, unless it names a tier', async () => {
  await accounts.tokens.createToken({ ...newToken('grace'), tier: 'pro' });
  await accounts.changeAccount('grace', { timezone: 'America/St_Johns' });
  const second = await accounts.tokens.createToken(newToken('grace'));
  expect(second.tier).toBe('pro');
  expect(await accounts.account('grace')).toMatchObject({
    tier: 'pro',
    timezone: 'America/St_Johns',
  });
  const third = await accounts.tokens.createToken({ ...newToken('grace'), tier: 'free' });
  expect(third.tier).toBe('free');
  expect(await accounts.account('grace')).toMatchObject({ tier: 'free' });
});

test('concurrent first tokens of a user share one account', async () => {
  await Promise.all(
    Array.from({ length: 10 }, () => accounts.tokens.createToken(newToken('twin'))),
  );
  expect((await accounts.lists.accounts()).filter(({ id }) => id === 'twin')).toHaveLength(1);
  expect(await accounts.tokens.tokens('twin')).toHaveLength(10);
});

test('responses call the account userId', async () => {
  const user = await service.user({ id: 'user with spaces and ünïcode' });
  expect((await user.plant())['userId']).toBe('user with spaces and ünïcode');
});

test('accounts with equal revisions see their own data', async () => {
  const [one, other] = [await service.user(), await service.user()];
  const plants = [await one.plant(), await other.plant()];
  const made = await Promise.all([one, other].map(({ id }) => accounts.account(id)));
  expect(made[0]?.revision).toBe(made[1]?.revision);
  const lists = [await one.get('/api/plants'), await other.get('/api/plants')];
  expect(lists.map(({ body }) => body as unknown)).toEqual(plants.map((plant) => [plant]));
});

test('an account that is created again shows no data of the deleted one', async () => {
  const revision = async () => (await accounts.account('phoenix'))?.revision ?? 0;
  const before = await service.user({ id: 'phoenix' });
  await before.plant();
  expect((await before.get('/api/plants')).body).toHaveLength(1);
  const cached = await revision();
  await accounts.data.deleteUser('phoenix', () => undefined);
  const after = await service.user({ id: 'phoenix' });
  while ((await revision()) < cached) await after.patch('/api/account', { timezone: 'UTC' });
  expect(await revision()).toBe(cached);
  expect((await after.get('/api/plants')).body).toEqual([]);
});

test('two tokens of one account see the same data', async () => {
  const first = await service.user();
  const second = await service.user({ id: first.id });
  const plant = await first.plant();
  expect((await second.get('/api/plants')).body).toEqual([plant]);
});

test('changing the tier allows or refuses the monthly view from the next request on', async () => {
  const user = await service.user({ tier: 'free' });
  const plant = await user.plant();
  expect(await monthView(user, plant.id)).toBe(403);
  await accounts.changeAccount(user.id, { tier: 'pro' });
  expect(await monthView(user, plant.id)).toBe(200);
  await accounts.changeAccount(user.id, { tier: 'free' });
  expect(await monthView(user, plant.id)).toBe(403);
});

test('changing the tier changes the limits from the next request on', async () => {
  const user = await service.user({ tier: 'free' });
  const add = () => user.post('/api/plants', { name: 'Fern' });
  for (let count = 0; count < FREE; count += 1) await add().expect(201);
  expectError(await add(), 403, 'plant_limit_reached', /free/);
  await accounts.changeAccount(user.id, { tier: 'pro' });
  for (let count = FREE; count < PRO; count += 1) await add().expect(201);
  expectError(await add(), 403, 'plant_limit_reached', /pro/);
});

test('changing the tier on one server takes effect on another from the next request on', async () => {
  const second = await startService({ mongodbUri: service.mongodbUri });
  try {
    const user = await service.user({ tier: 'free' });
    const plant = await user.plant();
    expect(await monthView(user, plant.id)).toBe(403);
    await second.app.exportsOf(accountsPlugin).changeAccount(user.id, { tier: 'pro' });
    expect(await monthView(user, plant.id)).toBe(200);
  } finally {
    await second.close();
  }
});

test('changing an account that does not exist fails and creates none', async () => {
  await expect(accounts.changeAccount('nobody', { tier: 'pro' })).rejects.toThrow();
  expect(await accounts.account('nobody')).toBeUndefined();
});
