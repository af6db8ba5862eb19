import type { TestService } from '../../test/support/service';
import { accountsPlugin, onFirstStart, startService, userOf } from '../../test/support/program';

let service: TestService;

beforeEach(async () => {
  service = await startService({});
});
afterEach(() => service.close());

/** The token of the line to try the service with; undefined when there is none. */
async function tokenOfWelcome(): Promise<string | undefined> {
  const lines = await onFirstStart(service.app, service.url);
  return /Bearer (tnd_mcp_\w+)/.exec(lines.join('\n'))?.[1];
}

async function plantsOf(token: string): Promise<unknown[]> {
  return (await userOf(service.url, 'demo', token).get('/api/plants').expect(200))
    .body as unknown[];
}

test('the first start loads a garden and prints how to try it; later ones print nothing', async () => {
  const token = await tokenOfWelcome();
  expect((await plantsOf(token ?? '')).length).toBeGreaterThan(0);
  expect(await tokenOfWelcome()).toBeUndefined();
});

test('the first start prints the front page, and an invitation for the demo account', async () => {
  const lines = (await onFirstStart(service.app, service.url)).join('\n');
  const { port } = new URL(service.url);
  expect(lines).toContain(`The front page: http://localhost:${port}\n`);
  const [, link = ''] = /^Sign in there as demo, once by (\S+)$/m.exec(lines) ?? [];
  const { origin, pathname, search } = new URL(link);
  expect(origin).toBe(`http://localhost:${port}`);
  const page = await service.anonymous.get(pathname + search).expect(200);
  expect(page.text).toContain('<strong>demo</strong>');
});

test('there is no invitation if people sign in at an issuer', async () => {
  const other = await startService({
    env: { OIDC_ISSUER: 'https://id.example.com', OIDC_AUDIENCE: 'plants' },
  });
  const lines = (await onFirstStart(other.app, other.url)).join('\n');
  await other.close();
  expect(lines).toContain(`${other.url}/docs`);
  expect(lines).not.toContain('Sign in');
});

test('the next start finishes a first start that was interrupted after it created the account', async () => {
  const accounts = service.app.exportsOf(accountsPlugin);
  await tokenOfWelcome();
  const [demo] = await accounts.lists.accounts();
  if (!demo) throw new Error('There is no demo account.');
  // The database as it is when a process dies between making the account and its garden.
  await service.app.database.connection.dropDatabase();
  await accounts.ensureAccount(demo.id, demo.tier, demo.timezone);
  const token = await tokenOfWelcome();
  expect((await plantsOf(token ?? '')).length).toBeGreaterThan(0);
});

test('the next start finishes a first start that was interrupted before it created the token', async () => {
  await tokenOfWelcome();
  await service.app.database.connection.collection('tokens').deleteMany({});
  const token = await tokenOfWelcome();
  expect((await plantsOf(token ?? '')).length).toBeGreaterThan(0);
});

test('nothing is loaded if there are tokens already', async () => {
  const user = await service.user();
  expect(await tokenOfWelcome()).toBeUndefined();
  expect((await user.get('/api/announcements').expect(200)).body).toEqual([]);
});
