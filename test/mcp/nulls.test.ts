import type { TestService, TestUser } from '../support/service';
import {
  assistant,
  type Assistant,
  callTool,
  listTools,
  post,
  refused,
  rpc,
  tool,
} from './support';
import { Garden, startService, toolRows, validRequest } from '../support/program';

let service: TestService;
let me: Assistant;
let tools: Awaited<ReturnType<typeof listTools>>;

beforeAll(async () => {
  service = await startService();
  me = await assistant(service);
  tools = await listTools(me);
});
afterAll(() => service.close());

/** What frameworks fill in for an argument that a model left out. */
const FILLERS = [null, '', []];

interface Gardener {
  caller: Assistant;
  garden: Garden;
}

/** Callers with equal histories: one leaves arguments out, the others fill them in. */
let gardeners: Promise<Gardener[]> | undefined;

async function newGardener(): Promise<Gardener> {
  const user: TestUser = await service.user();
  return { caller: { url: service.url, token: user.token, user }, garden: new Garden(user) };
}

const FULL_PLANT = {
  name: 'Monstera',
  species: 'Monstera deliciosa',
  location: 'Hall',
  notes: 'A gift, 2019',
  wateringFrequencyDays: 7,
  lightRequirement: 'low',
  toxic: true,
  mossPoleNeeded: true,
};

interface Arguments {
  properties: Record<string, object>;
  required: readonly string[];
}

function argumentsOf(name: string): Arguments {
  const found = tools.find((each) => each.name === name);
  // An input schema always has properties, and has required only if some are.
  return { required: [], ...found?.inputSchema } as unknown as Arguments;
}

/** The same for every optional argument of a tool. */
function filled(name: string, filler: unknown): Record<string, unknown> {
  const { properties, required } = argumentsOf(name);
  const optional = Object.keys(properties).filter((each) => !required.includes(each));
  return Object.fromEntries(optional.map((each) => [each, filler]));
}

/** A response without what depends on time, account and records. */
function lasting({ structuredContent, isError, content }: Awaited<ReturnType<typeof callTool>>) {
  const text = JSON.stringify(structuredContent ?? content);
  const own = /"(\d{4}-\d\d-\d\dT[^"]*|(user-)?[0-9a-f-]{36})"|"nextCursor":"[^"]*"/g;
  return [isError, text.replace(own, '')];
}

test.each(toolRows())(
  'null, "" or [] for an optional argument of %s is the same as leaving it out',
  async (name, operation) => {
    const call = async ({ caller, garden }: Gardener, others: object) => {
      const { toolArguments } = validRequest(operation, await garden.ids());
      const result = await callTool(caller, name, { ...others, ...toolArguments });
      garden.called(operation);
      return lasting(result);
    };
    gardeners ??= Promise.all([newGardener(), ...FILLERS.map(newGardener)]);
    const [plain, ...others] = await Promise.all(
      (await gardeners).map((each, place) =>
        call(each, place === 0 ? {} : filled(name, FILLERS[place - 1])),
      ),
    );
    expect(plain?.[0]).toBeUndefined();
    expect(others).toEqual(FILLERS.map(() => plain));
  },
);

describe.each(FILLERS.map((filler) => [filler]))('%j for what a model left out', (filler) => {
  test('of update_plant changes only the others', async () => {
    const before = await me.user.plant(FULL_PLANT);
    const given = { ...filled('update_plant', filler), id: before.id, location: 'Bathroom' };
    const after = await tool(me, 'update_plant', given);
    expect(after).toEqual({ ...before, location: 'Bathroom', updatedAt: after['updatedAt'] });
  });

  test('of update_event keeps the photos', async () => {
    const { id: plantId } = await me.user.plant();
    const photo = await me.user.photo();
    const note = { type: 'note', text: 'New', photoIds: [photo.id] };
    const { id } = await me.user.event(plantId, note);
    const given = { ...filled('update_event', filler), id, text: 'A new leaf' };
    const after = await tool(me, 'update_event', given);
    expect(after).toMatchObject({ text: 'A new leaf', photos: [{ id: photo.id }] });
  });

  test('of update_schedule keeps the winter', async () => {
    const { id } = await me.user.plant();
    const before = await tool(me, 'create_schedule', { ...SCHEDULE, id });
    const given = { ...filled('update_schedule', filler), id: before['id'], endOn: '2999-12-31' };
    const after = await tool(me, 'update_schedule', given);
    expect(after).toEqual({ ...before, endOn: '2999-12-31', updatedAt: after['updatedAt'] });
  });

  test('of log_care and search_events does not count', async () => {
    const { id } = await me.user.plant({ location: 'Attic' });
    const log = { ...filled('log_care', filler), type: 'watered' };
    const byId = await tool(me, 'log_care', { ...log, plantIds: [id] });
    expect(byId['items']).toHaveLength(1);
    await tool(me, 'log_care', { ...log, location: 'Attic' });
    const found = { ...filled('search_events', filler), plantId: id };
    expect((await tool(me, 'search_events', found))['items']).toHaveLength(2);
    await tool(me, 'archive_plant', { id, reason: 'sold' });
  });

  test('of what is required counts as missing', async () => {
    expect(await refused(me, 'create_plant', { name: filler })).toMatch(/name is required/);
    expect(await refused(me, 'get_plant', { id: filler })).toMatch(/id is required/);
    expect(await refused(me, 'delete_events', { eventIds: filler })).toMatch(
      /eventIds is required/,
    );
    const nobody = { plantIds: filler, location: filler, type: 'watered' };
    expect(await refused(me, 'log_care', nobody)).toMatch(/plantIds or location is required/);
  });

  test('among the items of a list is dropped', async () => {
    const { id } = await me.user.plant();
    const photo = await me.user.photo();
    const given = { id, type: 'note', photoIds: [filler, photo.id, filler] };
    expect(await tool(me, 'create_event', given)).toMatchObject({ photos: [{ id: photo.id }] });
    const seasons = [filler, ...SCHEDULE.seasons];
    const schedule = await tool(me, 'create_schedule', { ...SCHEDULE, id, seasons });
    expect(schedule['seasons']).toEqual(SCHEDULE.seasons);
    expect(await refused(me, 'delete_events', { eventIds: [filler] })).toMatch(/is required/);
  });

  test('among the items of a list does not change which one an error names', async () => {
    const { id } = await me.user.plant();
    const fault = /seasons\[2\]\.to is required/;
    const seasons = [...SCHEDULE.seasons, filler, { from: '05-01', everyDays: 3 }];
    expect(await refused(me, 'create_schedule', { ...SCHEDULE, id, seasons })).toMatch(fault);
    const schedules = [filler, filler, { ...SCHEDULE, seasons: [[], '', ...seasons] }];
    const plants = [filler, { name: 'Fern' }, filler, { name: 'Ivy', schedules }];
    const said = await refused(me, 'import_plants', { plants });
    expect(said).toMatch(/plants\[3\]\.schedules\[2\]\.seasons\[4\]\.to is required/);
    const photoIds = [filler, 'x', filler, 7];
    const ofIds = await refused(me, 'create_event', { id, type: 'note', photoIds });
    expect(ofIds).toMatch(/photoIds\[1\] must be .*photoIds\[3\] must be/);
  });

  test('within an item of a list is left out', async () => {
    const { id } = await me.user.plant();
    const [winter] = SCHEDULE.seasons;
    const given = { ...SCHEDULE, id, seasons: [{ ...winter, to: filler }] };
    expect(await refused(me, 'create_schedule', given)).toMatch(/seasons\[0\]\.to is required/);
  });
});

const SCHEDULE = {
  care: 'watered',
  everyDays: 7,
  months: [1, 2, 12],
  seasons: [{ from: '11-01', to: '02-28', everyDays: 21 }],
  startOn: '2026-03-01',
};

test('white space is text, and clears nothing', async () => {
  const { id } = await me.user.plant(FULL_PLANT);
  expect(await tool(me, 'update_plant', { id, notes: ' ' })).toMatchObject({ notes: ' ' });
});

test.each([
  ['create_plant', { name: 'Fern', wateringFrequencyDays: '7' }, { wateringFrequencyDays: 7 }],
  ['create_plant', { name: 'Fern', toxic: 'true' }, { toxic: true }],
  ['create_plant', { name: '7', toxic: 'false' }, { name: '7', toxic: false }],
  ['search_events', { limit: '1', location: 'Nowhere' }, { items: [] }],
])('%s takes numbers and booleans as text: %j', async (name, given, expected) => {
  expect(await tool(me, name, given)).toMatchObject(expected);
});

test('numbers count as text within lists, too', async () => {
  const { id } = await me.user.plant();
  const [winter] = SCHEDULE.seasons;
  const given = { ...SCHEDULE, id, months: ['3'], seasons: [{ ...winter, everyDays: '21' }] };
  const schedule = await tool(me, 'create_schedule', given);
  expect(schedule).toMatchObject({ months: [3], seasons: SCHEDULE.seasons });
});

test('false for an argument that is only ever true is the same as leaving it out', async () => {
  const { id: plantId } = await me.user.plant({ wateringFrequencyDays: 7 });
  const given = { plantId, type: 'watered', until: '2999-01-01' };
  const plain = await refused(me, 'snooze_care', given);
  for (const all of [false, 'false']) {
    expect(await refused(me, 'snooze_care', { ...given, all })).toBe(plain);
  }
});

test.each(['create_event', 'log_care'])('%s requires a type, and says which', async (name) => {
  const { id } = await me.user.plant();
  const plant = name === 'log_care' ? { plantIds: [id] } : { id };
  for (const type of [undefined, ...FILLERS]) {
    const given = { ...plant, growthAmount: 3, growthUnit: 'cm', type };
    expect(await refused(me, name, given)).toBe(
      `validation_error: type is required: one of [watered, fertilized, repotted, soil_change, note, journal, growth]. Correct this and call ${name} again.`,
    );
  }
  expect((await me.user.get(`/api/plants/${id}`)).body).toMatchObject({ lastWatered: null });
  expect(argumentsOf(name).required).toContain('type');
  expect(argumentsOf(name).properties['type']).not.toHaveProperty('default');
  expect(JSON.stringify(argumentsOf(name).properties['type'])).not.toContain('default');
  const over = await me.user.post(`/api/plants/${id}/events`, {}).expect(201);
  expect(over.body).toMatchObject({ type: 'watered' });
});

test('a wrong value of an enum that can be cleared is not answered with null, which clears nothing', async () => {
  const { id } = await me.user.plant(FULL_PLANT);
  const said = await refused(me, 'update_plant', { id, lightRequirement: 'LOW' });
  expect(said).toContain(
    'lightRequirement must be one of [low, medium, bright_indirect, full_sun].',
  );
});

test('null instead of arguments means none', async () => {
  const { body } = await post(me, rpc('tools/call', { name: 'list_plants', arguments: null }));
  expect(body.result).toHaveProperty('structuredContent.items');
});

test('no description of an argument mentions null or HTTP methods, which only REST has', () => {
  for (const { inputSchema } of tools) {
    const said = [...JSON.stringify(inputSchema).matchAll(/"description":"([^"]*)"/g)];
    for (const [, text] of said) expect(text).not.toMatch(/\b(null|GET|POST|PATCH|DELETE)\b/);
  }
});

test('null for an unknown argument is refused by name', async () => {
  expect(await refused(me, 'list_plants', { colour: null })).toMatch(/colour is not allowed/);
});

describe('clear', () => {
  test('clears the fields that it names, and no others', async () => {
    const before = await me.user.plant(FULL_PLANT);
    const clear = ['species', 'wateringFrequencyDays', 'lightRequirement'];
    const after = await tool(me, 'update_plant', { id: before.id, notes: 'Old', clear });
    const cleared = { species: null, wateringFrequencyDays: null, lightRequirement: null };
    const changed = { notes: 'Old', updatedAt: after['updatedAt'] };
    expect(after).toEqual({ ...before, ...cleared, ...changed });
  });

  test('of an event clears its text', async () => {
    const { id: plantId } = await me.user.plant();
    const { id } = await me.user.event(plantId, { type: 'note', text: 'A new leaf' });
    expect(await tool(me, 'update_event', { id, clear: ['text'] })).toMatchObject({ text: null });
  });

  test.each([
    ['update_event', ['text', 'photoIds', 'scheduleId']],
    [
      'update_schedule',
      ['label', 'everyDays', 'weekdays', 'monthDays', 'months', 'seasons', 'endOn'],
    ],
    ['update_account', ['remindAt', 'gardenName']],
  ])('of %s names each field that can be empty: %j', (name, fields) => {
    expect(argumentsOf(name).properties['clear']).toMatchObject({ items: { enum: fields } });
  });

  test('of an event removes its photos', async () => {
    const { id: plantId } = await me.user.plant();
    const photo = await me.user.photo();
    const { id } = await me.user.event(plantId, { text: 'New', photoIds: [photo.id] });
    const given = { id, photoIds: [], clear: ['photoIds'] };
    expect(await tool(me, 'update_event', given)).toMatchObject({ text: 'New', photos: [] });
  });

  test('of a schedule removes lists and rules', async () => {
    const { id: plantId } = await me.user.plant();
    const { id } = await tool(me, 'create_schedule', { ...SCHEDULE, id: plantId });
    const changed = { weekdays: ['mon'], seasons: [], clear: ['everyDays', 'seasons', 'months'] };
    expect(await tool(me, 'update_schedule', { id, ...changed })).toMatchObject({
      everyDays: null,
      weekdays: ['mon'],
      months: null,
      seasons: [],
    });
    const monthly = { id, monthDays: ['31', -1], clear: ['weekdays'] };
    expect(await tool(me, 'update_schedule', monthly)).toMatchObject({
      everyDays: null,
      weekdays: null,
      monthDays: [31, -1],
    });
  });

  test('may be the name of one field', async () => {
    const { id } = await me.user.plant(FULL_PLANT);
    const after = await tool(me, 'update_plant', { id, clear: 'notes', notes: '' });
    expect(after).toMatchObject({ notes: null, species: FULL_PLANT.species });
  });

  test('that is empty clears nothing', async () => {
    const before = await me.user.plant(FULL_PLANT);
    for (const clear of [...FILLERS, [null], ['']]) {
      expect(await tool(me, 'update_plant', { id: before.id, clear })).toEqual(before);
    }
  });

  test.each([
    [{ clear: ['name'] }, /clear must be a list of some of species, location, [^]*careNotes/],
    [{ clear: ['toxic'] }, /clear must be a list/],
    [{ clear: ['colour'] }, /clear must be a list/],
    [{ clear: ['constructor'] }, /clear must be a list/],
    [{ clear: 'species, notes' }, /clear must be a list/],
    [{ clear: { species: true } }, /clear must be a list/],
    [{ clear: ['species'], species: 'Monstera' }, /species must not be given with clear/],
    [{ clear: ['name'], potType: 'glass' }, /clear must be a list[^]*potType must be/],
  ])('%j is refused, and changes nothing', async (given, reason) => {
    const before = await me.user.plant(FULL_PLANT);
    expect(await refused(me, 'update_plant', { id: before.id, ...given })).toMatch(reason);
    expect((await me.user.get(`/api/plants/${before.id}`)).body).toEqual(before);
  });

  test('is an argument of exactly the tools that change records', () => {
    const names = tools
      .filter(({ inputSchema }) => 'clear' in (inputSchema['properties'] as object))
      .map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['update_plant', 'update_event']));
    for (const name of names) expect(name).toMatch(/^(update|crop)_/);
  });

  test('is not a field over REST, where null and empty texts are stored', async () => {
    const { id } = await me.user.plant(FULL_PLANT);
    await me.user.patch(`/api/plants/${id}`, { clear: ['species'] }).expect(400);
    const emptied = { species: null, notes: '' };
    const { text } = await me.user.patch(`/api/plants/${id}`, emptied).expect(200);
    expect(JSON.parse(text)).toMatchObject({ ...emptied, location: 'Hall' });
  });
});
