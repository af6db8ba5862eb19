import { assistant, tool } from '../../../test/mcp/support';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { faultsOf, listOf } from '../../../test/support/shapes';

const LISTS = ['/api/plants', '/api/plant-summaries'];

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

async function names(query: string, path = '/api/plants'): Promise<unknown[]> {
  return listOf(await user.get(`${path}?${query}`).expect(200)).map(({ name }) => name);
}

async function add(...given: string[]): Promise<void> {
  for (const name of given) await user.plant({ name });
}

test.each([
  ['sv', ['Aloe', 'Zamia', 'Åkervinda', 'Änglavinge', 'Örtagård']],
  ['de', ['Afrika', 'Ähre', 'Aloe', 'Öl', 'Zamia']],
  ['de-u-co-phonebk', ['Ähre', 'Afrika', 'Aloe', 'Öl', 'Zamia']],
  ['fr', ['cote', 'coté', 'côte', 'côté', 'Érable', 'fougère']],
  ['fr-CA', ['cote', 'côte', 'coté', 'côté', 'Érable', 'fougère']],
  ['da', ['Bregne', 'Zamia', 'Æble', 'Ørred', 'Ål']],
  ['es', ['nardo', 'nube', 'ñandú', 'olivo']],
  ['en', ['aloe', 'Aloe', 'fern', 'Fern 10', 'Fern 2', 'Monstera']],
  // A language without known rules is sorted like English.
  ['tlh', ['Åkervinda', 'aloe', 'Öl', 'Zamia']],
])('names are in the order of the language %s', async (language, sorted) => {
  await user.patch('/api/account', { language }).expect(200);
  await add(...sorted.slice(1).reverse(), String(sorted[0]));
  for (const path of LISTS) {
    expect(await names('sort=name', path)).toEqual(sorted);
    expect(await names('sort=name&order=desc', path)).toEqual(sorted.toReversed());
  }
});

test('a change of language changes the order at once', async () => {
  await add('Zamia', 'Ört');
  expect(await names('sort=name')).toEqual(['Ört', 'Zamia']);
  await user.patch('/api/account', { language: 'sv' }).expect(200);
  expect(await names('sort=name')).toEqual(['Zamia', 'Ört']);
});

test('plants can be listed oldest or newest first, and ties are oldest first', async () => {
  for (const species of ['1', '2', '3']) await user.plant({ name: 'Fern', species });
  const species = async (query: string) =>
    listOf(await user.get(`/api/plants?${query}`).expect(200)).map((each) => each['species']);
  expect(await species('order=asc')).toEqual(['1', '2', '3']);
  expect(await species('sort=createdAt')).toEqual(['1', '2', '3']);
  for (const query of ['order=desc', 'sort=createdAt&order=desc']) {
    expect(await species(query)).toEqual(['3', '2', '1']);
  }
  for (const query of ['sort=name', 'sort=name&order=desc', 'sort=lastWatered&order=desc']) {
    expect(await species(query)).toEqual(['1', '2', '3']);
  }
});

test('plants that were never watered come last in either order', async () => {
  await add('Never');
  for (const [name, day] of [['Late', '03'] as const, ['Early', '01'] as const]) {
    const { id } = await user.plant({ name });
    await user.event(id, { occurredAt: `2026-03-${day}T12:00:00Z` });
  }
  await add('Nor this');
  for (const path of LISTS) {
    expect(await names('sort=lastWatered', path)).toEqual(['Early', 'Late', 'Never', 'Nor this']);
    expect(await names('sort=lastWatered&order=desc', path)).toEqual([
      'Late',
      'Early',
      'Never',
      'Nor this',
    ]);
  }
});

test('long sorted lists are complete, in order, and can be filtered', async () => {
  const all = Array.from({ length: 150 }, (_, index) => `Fern ${String(index).padStart(3, '0')}`);
  await Promise.all(all.toReversed().map((name) => user.plant({ name, location: 'Hall' })));
  await add('Moss', 'Fern elsewhere');
  expect(await names('sort=name&location=Hall&q=fern')).toEqual(all);
  const [{ id }] = listOf(await user.get('/api/plants?sort=name&q=fern%20007')) as [{ id: string }];
  await user.post(`/api/plants/${id}/archive`, { reason: 'sold' }).expect(200);
  expect(await names('sort=name&status=archived&order=desc')).toEqual(['Fern 007']);
});

test('an unknown order is refused', async () => {
  expect(faultsOf(await user.get('/api/plants?sort=species&order=up').expect(400))).toEqual([
    'order',
    'sort',
  ]);
});

test('an assistant can sort plants', async () => {
  const me = await assistant(service);
  for (const name of ['Aloe', 'Moss']) await tool(me, 'create_plant', { name });
  const sorted = await tool(me, 'list_plants', { sort: 'name', order: 'desc' });
  expect(sorted).toMatchObject({ items: [{ name: 'Moss' }, { name: 'Aloe' }] });
});
