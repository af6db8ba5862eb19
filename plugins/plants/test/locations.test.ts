import { several } from '../../../test/support/several';
import type { TestService, TestUser } from '../../../test/support/service';
import { queriesOf } from '../../../test/support/profiler';
import { startService } from '../../../test/support/program';
import { bodyOf, listOf } from '../../../test/support/shapes';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService({ jobs: false });
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

/** The ids of the plants of the items of a response. */
function plantIdsOf(response: Parameters<typeof bodyOf>[0]): string[] {
  const { items } = bodyOf(response) as { items: { plantId: string }[] }; // The tests compare it.
  return items.map(({ plantId }) => plantId);
}

async function locations(): Promise<unknown> {
  const response = await user.get('/api/locations').expect(200);
  return response.body as unknown;
}

test('the list of locations is empty without plants, or if no plant has a location', async () => {
  expect(await locations()).toEqual([]);
  await user.plant();
  expect(await locations()).toEqual([]);
});

test('a blank location is left out', async () => {
  await user.plant({ location: '' });
  await user.plant({ location: ' \u00a0' });
  expect(await locations()).toEqual([]);
});

test('each location is listed once', async () => {
  await Promise.all(['Hall', 'Attic', 'Hall', 'Hall'].map((location) => user.plant({ location })));
  expect(await locations()).toEqual(['Attic', 'Hall']);
});

/** Spellings of a place that look alike, and two of another. */
const VERANDA = [
  'V\u00e9randa Sud',
  'Ve\u0301randa Sud',
  ' V\u00e9randa  Sud',
  'Véranda\u00a0Sud ',
];
const OTHERS = ['véranda Sud', 'Veranda Sud'];

test('a location has the spelling of its oldest plant; case and accents count', async () => {
  const [first, ...others] = VERANDA;
  const oldest = await user.plant({ location: first });
  for (const location of [...others, ...OTHERS]) await user.plant({ location });
  expect(await locations()).toEqual(['Veranda Sud', first, OTHERS[0]].sort());
  await user.delete(`/api/plants/${oldest.id}`).expect(200);
  expect(await locations()).toEqual(['Veranda Sud', others[0], OTHERS[0]].sort());
});

test('spellings are stored as sent', async () => {
  const plants = await Promise.all(VERANDA.map((location) => user.plant({ location })));
  expect(plants.map(({ location }) => location)).toEqual(VERANDA);
});

test.each([...VERANDA, 'V\u00e9randa\tSud'])(
  '%j finds the plants there, in every operation that takes a location',
  async (location) => {
    const plants = [];
    for (const each of VERANDA) {
      plants.push(await user.plant({ location: each, wateringFrequencyDays: 7 }));
    }
    for (const each of OTHERS) await user.plant({ location: each, wateringFrequencyDays: 7 });
    const ids = plants.map(({ id }) => id);
    const at = `location=${encodeURIComponent(location)}`;
    const found = await user.get(`/api/plants?${at}`).expect(200);
    expect(listOf(found).map(({ id }) => id)).toEqual(ids);
    const due = await user.get(`/api/care?dueBy=9999-12-31&${at}`).expect(200);
    expect(plantIdsOf(due)).toEqual(ids);
    const logged = await user.post('/api/events', { location, type: 'watered' }).expect(201);
    expect(plantIdsOf(logged)).toEqual(ids);
    const feed = await user.get(`/api/events?${at}`).expect(200);
    expect(plantIdsOf(feed).sort()).toEqual([...ids].sort());
  },
);

test('a cursor of the feed is valid for another spelling of the same location', async () => {
  const plant = await user.plant({ location: VERANDA[0] });
  for (let count = 0; count < 2; count += 1) await user.event(plant.id);
  const at = (index: number) => `location=${encodeURIComponent(VERANDA[index] ?? '')}&limit=1`;
  const first = await user.get(`/api/events?${at(0)}`).expect(200);
  const { nextCursor } = first.body as { nextCursor: string };
  const second = await user.get(`/api/events?${at(1)}&cursor=${nextCursor}`).expect(200);
  expect(plantIdsOf(second)).toHaveLength(1);
});

test('locations are sorted the same whatever the order of the plants', async () => {
  for (const location of ['b', 'a', 'C', 'é', 'Z', 'z', '1']) await user.plant({ location });
  expect(await locations()).toEqual(['1', 'C', 'Z', 'a', 'b', 'z', 'é']);
});

test('a location disappears when its last plant is moved, cleared or deleted', async () => {
  const hall = await user.plant({ location: 'Hall' });
  const attic = await user.plant({ location: 'Attic' });
  const cellar = await user.plant({ location: 'Cellar' });
  await user.patch(`/api/plants/${hall.id}`, { location: 'Loft' }).expect(200);
  await user.patch(`/api/plants/${attic.id}`, { location: null }).expect(200);
  await user.delete(`/api/plants/${cellar.id}`).expect(200);
  expect(await locations()).toEqual(['Loft']);
});

test('locations of other accounts are not listed', async () => {
  const other = await service.user();
  await other.plant({ location: 'Secret garden' });
  expect(await locations()).toEqual([]);
});

test('the cost of a location does not depend on plants at other locations', async () => {
  for (const location of ['Hall', 'Attic', 'Hall ']) {
    await several(20, () => user.plant({ location }));
  }
  const queries = await queriesOf(service, async () => {
    await user.get('/api/locations').expect(200);
    await user.get('/api/plants?location=Attic').expect(200);
  });
  expect(queries.filter(({ sortsInMemory }) => sortsInMemory)).toEqual([]);
  const ofPlants = queries.filter(({ collection }) => collection === 'plants');
  const examined = ofPlants.map(({ docsExamined, keysExamined }) => docsExamined + keysExamined);
  expect(examined).toHaveLength(3);
  // A key or two for each of three spellings, twice; then twenty plants, each by its key.
  expect(examined.filter((count) => count > 6)).toEqual([40]);
});
