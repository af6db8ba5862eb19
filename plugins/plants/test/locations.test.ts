import type { TestService, TestUser } from '../../../test/support/service';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

async function locations(): Promise<unknown> {
  const response = await user.get('/api/locations').expect(200);
  return response.body as unknown;
}

test('there are no locations without plants, nor with plants that stand nowhere', async () => {
  expect(await locations()).toEqual([]);
  await user.plant();
  expect(await locations()).toEqual([]);
});

test('an empty location is none, and one of spaces is one', async () => {
  await user.plant({ location: '' });
  await user.plant({ location: ' ' });
  expect(await locations()).toEqual([' ']);
});

test('each location is there once, however many plants share it', async () => {
  await Promise.all(['Hall', 'Attic', 'Hall', 'Hall'].map((location) => user.plant({ location })));
  expect(await locations()).toEqual(['Attic', 'Hall']);
});

test('locations are exact: case, accents, composition and spaces matter', async () => {
  const given = ['hall', 'Hall', 'Hall ', ' Hall', 'HALL', 'Hâll', 'Ha\u0302ll', '10', '9', '🌱'];
  await Promise.all(given.map((location) => user.plant({ location })));
  expect(await locations()).toEqual([...given].sort());
});

test('locations are sorted the same whatever the order of the plants', async () => {
  for (const location of ['b', 'a', 'C', 'é', 'Z', 'z', '1']) await user.plant({ location });
  expect(await locations()).toEqual(['1', 'C', 'Z', 'a', 'b', 'z', 'é']);
});

test('a location goes with its last plant, moved, cleared or deleted', async () => {
  const hall = await user.plant({ location: 'Hall' });
  const attic = await user.plant({ location: 'Attic' });
  const cellar = await user.plant({ location: 'Cellar' });
  await user.patch(`/api/plants/${hall.id}`, { location: 'Loft' }).expect(200);
  await user.patch(`/api/plants/${attic.id}`, { location: null }).expect(200);
  await user.delete(`/api/plants/${cellar.id}`).expect(200);
  expect(await locations()).toEqual(['Loft']);
});

test('the locations of others are not shown', async () => {
  const other = await service.user();
  await other.plant({ location: 'Secret garden' });
  expect(await locations()).toEqual([]);
});
