import { resetClock, setClock } from '../../test/support/clock';
import type { TestService } from '../../test/support/service';
import { Browser } from '../../test/support/signed-in';
import { accountsPlugin, onFirstStart, startService, userOf } from '../../test/support/program';

let service: TestService;

beforeEach(async () => {
  service = await startService({});
});
afterEach(async () => {
  resetClock();
  await service.close();
});

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

/** The link to the garden in some lines. */
function linkIn(lines: readonly string[]): string {
  const { port } = new URL(service.url);
  const [, link = ''] =
    new RegExp(`^  http://localhost:${port}(/\\S+)$`, 'm').exec(lines.join('\n')) ?? [];
  return link;
}

test('the first start prints a link that opens the demo garden, signed in, once', async () => {
  const link = linkIn(await onFirstStart(service.app, service.url));
  const opened = await new Browser(service.url).go(link);
  expect(opened.url.pathname).toBe('/garden');
  expect(opened.text).toMatch(/Lemon tree/);
  const again = await new Browser(service.url).go(link);
  expect(again.status).toBe(400);
  expect(again.text).toContain('This link has expired, was already used');
});

test('the link works only on this machine, not by a proxy, and for 15 minutes', async () => {
  const link = linkIn(await onFirstStart(service.app, service.url));
  await service.anonymous.head(link).expect(200);
  expect((await new Browser(service.url, '192.0.2.1').go(link)).status).toBe(400);
  await service.anonymous.get(link).set('Host', 'elsewhere.example').expect(404);
  setClock(Date.now() + 16 * 60_000);
  expect((await new Browser(service.url).go(link)).status).toBe(400);
});

test.each([
  { OIDC_ISSUER: 'https://id.example.com', OIDC_AUDIENCE: 'plants' },
  { PUBLIC_URL: 'https://plants.example.com' },
])('there is no link if people sign in elsewhere: %o', async (env) => {
  const other = await startService({ env });
  const lines = (await onFirstStart(other.app, other.url)).join('\n');
  await other.close();
  expect(lines).toContain(`${other.url}/docs`);
  expect(lines).not.toContain('sign-in');
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
