import type { TestService } from '../../test/support/service';
import { accountsPlugin, startService, userOf } from '../../test/support/program';

let service: TestService;

beforeEach(async () => {
  service = await startService({});
});
afterEach(() => service.close());

/** The token of the line to try the service with; undefined when there is none. */
async function tokenOfWelcome(): Promise<string | undefined> {
  const lines = await service.app.onFirstStart(service.url);
  return /Bearer (tnd_mcp_\w+)/.exec(lines.join('\n'))?.[1];
}

async function plantsOf(token: string): Promise<unknown[]> {
  return (await userOf(service.url, 'demo', token).get('/api/plants').expect(200))
    .body as unknown[];
}

test('the first start loads a garden and says how to try it, and later ones say nothing', async () => {
  const token = await tokenOfWelcome();
  expect((await plantsOf(token ?? '')).length).toBeGreaterThan(0);
  expect(await tokenOfWelcome()).toBeUndefined();
});

test('a first start that was cut short once the account was made is finished by the next', async () => {
  const accounts = service.app.exportsOf(accountsPlugin);
  await tokenOfWelcome();
  const [demo] = await accounts.accounts();
  if (!demo) throw new Error('There is no demo account.');
  // The database as it is when a process dies between making the account and its garden.
  await service.app.database.connection.dropDatabase();
  await accounts.ensureAccount(demo.id, demo.tier, demo.timezone);
  const token = await tokenOfWelcome();
  expect((await plantsOf(token ?? '')).length).toBeGreaterThan(0);
});

test('a first start that was cut short before its token was made is finished by the next', async () => {
  await tokenOfWelcome();
  await service.app.database.connection.collection('tokens').deleteMany({});
  const token = await tokenOfWelcome();
  expect((await plantsOf(token ?? '')).length).toBeGreaterThan(0);
});

test('where somebody has a token already, nothing is loaded', async () => {
  const user = await service.user();
  expect(await tokenOfWelcome()).toBeUndefined();
  expect((await user.get('/api/announcements').expect(200)).body).toEqual([]);
});
