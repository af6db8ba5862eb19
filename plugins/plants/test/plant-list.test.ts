import { assistant, callTool, tool } from '../../../test/mcp/support';
import { expectError, faultsOf, listOf } from '../../../test/support/shapes';
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

async function list(query: Record<string, string>, of = user, path = '/api/plants') {
  const search = new URLSearchParams(query).toString();
  return listOf(await of.get(`${path}?${search}`).expect(200));
}

const SUMMARIES = '/api/plant-summaries';

async function names(query: Record<string, string>): Promise<unknown[]> {
  return (await list(query)).map(({ name }) => name);
}

test('location matches the whole name, case-sensitively, and keeps the order of the list', async () => {
  for (const [name, location] of [
    ['Fern', 'Hall'],
    ['Oak', 'hall'],
    ['Ivy', 'Hall'],
    ['Elm', null],
    ['Fig', 'Hall way'],
  ]) {
    await user.plant({ name, location: location ?? undefined });
  }
  await (await service.user()).plant({ name: 'Theirs', location: 'Hall' });
  expect(await names({ location: 'Hall' })).toEqual(['Fern', 'Ivy']);
  expect(await names({ location: 'hall' })).toEqual(['Oak']);
  expect(await names({ location: 'Hal' })).toEqual([]);
});

test.each([
  ['fern', ['Boston FERN', 'Tree']],
  ['ON F', ['Boston FERN']],
  ['dicksonia', ['Tree']],
  ['.*', ['a.*b']],
  ['(', ['(', 'Tree']],
  ['STRASSE', ['Straße']],
  ['straße', ['Straße']],
  ['ΟΔΌΣ', ['οδός']],
  ['ÉTÉ', ['été']],
  ['ete', ['été']],
  ['e\u0301te\u0301', ['été']],
  ['été', ['été']],
  ['οδος', ['οδός']],
  ['\uff26\uff25\uff32\uff2e', ['Boston FERN', 'Tree']],
  ['lodz', ['Łódź']],
  ['OEILLET', ['Œillet']],
  ['か', []],
  ['가', []],
  ['が', ['が각']],
  ['蕨', ['蕨']],
  ['nothing', []],
])(
  'q %s is searched literally in name and species, ignoring case and accents',
  async (q, found) => {
    const plants = [
      'Boston FERN',
      'a.*b',
      '(',
      'Straße',
      'οδός',
      'été',
      '蕨',
      'が각',
      'Łódź',
      'Œillet',
    ];
    for (const name of plants) await user.plant({ name });
    await user.plant({ name: 'Tree', species: 'Tree Fern (Dicksonia)' });
    await user.plant({ name: 'Oak', notes: 'fern nothing', location: 'fern' });
    expect(await names({ q })).toEqual(found);
  },
);

test('q and location can be combined', async () => {
  await user.plant({ name: 'Fern', location: 'Hall' });
  await user.plant({ name: 'Fern two', location: 'Attic' });
  await user.plant({ name: 'Oak', location: 'Hall' });
  expect(await names({ q: 'fern', location: 'Hall' })).toEqual(['Fern']);
});

test('a summary has exactly eight fields', async () => {
  const photo = await user.photo();
  const plant = await user.plant({
    name: 'Fern',
    species: 'Nephrolepis',
    location: 'Hall',
    notes: 'Long',
    wateringFrequencyDays: 7,
    fertilizerFrequencyDays: 30,
    primaryPhotoId: photo.id,
  });
  const { occurredAt } = await user.event(plant.id);
  expect(await list({}, user, SUMMARIES)).toEqual([
    {
      id: plant.id,
      name: 'Fern',
      species: 'Nephrolepis',
      location: 'Hall',
      wateringFrequencyDays: 7,
      fertilizerFrequencyDays: 30,
      lastWatered: occurredAt,
      lastEvent: occurredAt,
    },
  ]);
  const full = await list({});
  expect(full).toEqual([
    { ...full[0], notes: 'Long', primaryPhoto: { ...photo, plantId: plant.id } },
  ]);
});

test('an assistant gets summaries unless it requests full plants', async () => {
  const me = await assistant(service);
  await me.user.plant({ notes: 'Long' });
  const items = async (given: object) => (await tool(me, 'list_plants', given))['items'];
  expect(await items({})).toEqual(await list({}, me.user, SUMMARIES));
  expect(await items({ view: 'full' })).toEqual(await list({}, me.user));
  for (const view of ['summary', 'full']) {
    expect(await items({ view, q: 'nothing' })).toEqual([]);
  }
  const refused = await callTool(me, 'list_plants', { view: 'short' });
  expect(refused).toMatchObject({ isError: true });
  expect(JSON.stringify(refused)).toContain('view must be one of [summary, full].');
});

test('summaries can be filtered like plants', async () => {
  await user.plant({ name: 'Camélia', location: 'Hall' });
  await user.plant({ name: 'Fern', location: 'Hall ' });
  await user.plant({ name: 'Camélia', location: 'Attic' });
  for (const query of [
    { location: 'Hall' },
    { q: 'camelia' },
    { location: 'Hall', q: 'camelia' },
  ]) {
    const ids = (await list(query)).map(({ id }) => id);
    expect((await list(query, user, SUMMARIES)).map(({ id }) => id)).toEqual(ids);
    expect(ids).not.toEqual([]);
  }
});

test.each(['%', '%zz', '%FF', '%ED%A0%80'])(
  'q=%s, which is not valid text, is refused',
  async (q) => {
    expectError(await user.get(`/api/plants?q=${q}`), 400, 'validation_error', /UTF-8/);
  },
);

test.each([
  ['view=summary', ['view']],
  ['q=', ['q']],
  ['location=', ['location']],
  [`q=${'x'.repeat(101)}&location=${'x'.repeat(101)}`, ['location', 'q']],
  ['q=%00', ['q']],
  ['species=fern', ['species']],
])('%s is refused', async (query, fields) => {
  expect(faultsOf(await user.get(`/api/plants?${query}`).expect(400))).toEqual(fields);
});
