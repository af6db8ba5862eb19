import { assistant, tool } from '../../../test/mcp/support';
import { Client } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { changesSince } from '../../../test/support/copy';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { expectError, faultsOf, listOf } from '../../../test/support/shapes';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user();
});
afterEach(resetClock);
afterAll(() => service.close());

const rename = (from: unknown, to: unknown) => user.post('/api/locations/rename', { from, to });

async function locations(): Promise<unknown> {
  return (await user.get('/api/locations').expect(200)).body as unknown;
}

test('all plants at a location move, whatever its spelling', async () => {
  const spellings = ['Véranda'.normalize('NFC'), 'Véranda'.normalize('NFD'), ' Véranda '];
  for (const location of [...spellings, 'véranda', 'Hall']) await user.plant({ location });
  expect((await rename('Véranda ', 'Wintergarten ').expect(200)).body).toEqual({ plants: 3 });
  expect(await locations()).toEqual(['Hall', 'Wintergarten ', 'véranda']);
});

test('a location can be merged into another, or respelled', async () => {
  for (const location of ['Hall', 'Hall ', 'Attic']) await user.plant({ location });
  expect((await rename('Hall', 'Hall').expect(200)).body).toEqual({ plants: 2 });
  expect((await rename('Attic', 'Hall').expect(200)).body).toEqual({ plants: 1 });
  const plants = listOf(await user.get('/api/plants?location=Hall').expect(200));
  expect(plants.map(({ location }) => location)).toEqual(['Hall', 'Hall', 'Hall']);
});

test('copies receive only the plants that changed', async () => {
  const client = new Client(service.url, user.token);
  const { id } = await user.plant({ location: 'Hall ' });
  await user.plant({ location: 'Hall' });
  const { nextCursor } = await changesSince(client);
  const updatedAt = new Date(Date.now() + 60_000).toISOString();
  setClock(updatedAt);
  await rename('Hall', 'Hall').expect(200);
  const { plants } = await changesSince(client, nextCursor);
  expect(plants).toEqual([(await user.get(`/api/plants/${id}`)).body]);
  expect(plants).toMatchObject([{ id, updatedAt }]);
});

test('archived plants move too, and are not counted', async () => {
  const { id } = await user.plant({ location: 'Hall' });
  await user.plant({ location: 'Hall' });
  await user.post(`/api/plants/${id}/archive`, { reason: 'other' }).expect(200);
  expect((await rename('Hall', 'Loft').expect(200)).body).toEqual({ plants: 1 });
  expect((await user.get(`/api/plants/${id}`)).body).toMatchObject({ location: 'Loft' });
});

test('a location of another account, or in another case, has no plants; a blank name is refused', async () => {
  const other = await service.user();
  await other.plant({ location: 'Hall' });
  await user.plant({ location: 'Loft' });
  for (const from of ['Hall', 'loft']) {
    expect((await rename(from, 'Attic').expect(200)).body).toEqual({ plants: 0 });
  }
  expect(await locations()).toEqual(['Loft']);
  for (const to of ['', '  ', 'x'.repeat(101), null, 7]) {
    expect(faultsOf(await rename('Hall', to).expect(400))).toEqual(['to']);
  }
  expect(faultsOf(await user.post('/api/locations/rename').expect(400))).toEqual(['from', 'to']);
  expect(listOf(await other.get('/api/plants'))).toMatchObject([{ location: 'Hall' }]);
});

test('renaming requires plants:write', async () => {
  await user.plant({ location: 'Hall' });
  const reader = await service.user({ id: user.id, scopes: ['plants:read'] });
  const refused = await reader.post('/api/locations/rename', { from: 'Hall', to: 'Loft' });
  expectError(refused, 403, 'insufficient_scope');
});

test('an assistant renames a location', async () => {
  const me = await assistant(service);
  await tool(me, 'create_plant', { name: 'Fern', location: 'Hall' });
  expect(await tool(me, 'rename_location', { from: 'Hall', to: 'Loft' })).toEqual({ plants: 1 });
});
