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

interface Gardener {
  caller: Assistant;
  garden: Garden;
}

/** Two callers with equal histories: one leaves arguments out, the other sends null for them. */
let pair: Promise<[Gardener, Gardener]> | undefined;

async function newGardener(): Promise<Gardener> {
  const user: TestUser = await service.user();
  return { caller: { url: service.url, token: user.token, user }, garden: new Garden(user) };
}

const FULL_PLANT = {
  name: 'Monstera',
  species: 'Monstera deliciosa',
  location: 'Hall',
  notes: 'From the market',
  wateringFrequencyDays: 7,
  lightRequirement: 'low',
  toxic: true,
  mossPoleNeeded: true,
};

interface Arguments {
  properties: Record<string, { anyOf?: { type?: string }[] }>;
  required: readonly string[];
}

function argumentsOf(name: string): Arguments {
  const found = tools.find((each) => each.name === name);
  // An input schema always has properties, and has required only if some are.
  return { required: [], ...found?.inputSchema } as unknown as Arguments;
}

/** Null for every optional argument of a tool. */
function nullsOf(name: string): Record<string, null> {
  const { properties, required } = argumentsOf(name);
  const optional = Object.keys(properties).filter((each) => !required.includes(each));
  return Object.fromEntries(optional.map((each) => [each, null]));
}

/** A response without what depends on time, account and records. */
function lasting({ structuredContent, isError, content }: Awaited<ReturnType<typeof callTool>>) {
  const text = JSON.stringify(structuredContent ?? content);
  const own = /"(\d{4}-\d\d-\d\dT[^"]*|(user-)?[0-9a-f-]{36})"|"nextCursor":"[^"]*"/g;
  return [isError, text.replace(own, '')];
}

test.each(toolRows())(
  'null for an optional argument of %s is the same as leaving it out',
  async (name, operation) => {
    const call = async ({ caller, garden }: Gardener, others: object) => {
      const { toolArguments } = validRequest(operation, await garden.ids());
      const result = await callTool(caller, name, { ...others, ...toolArguments });
      garden.called(operation);
      return lasting(result);
    };
    const [one, other] = await (pair ??= Promise.all([newGardener(), newGardener()]));
    const [without, withNulls] = await Promise.all([call(one, {}), call(other, nullsOf(name))]);
    expect(without[0]).toBeUndefined();
    expect(withNulls).toEqual(without);
  },
);

test('schemas allow null for exactly the optional arguments', () => {
  for (const { name } of tools) {
    const { properties, required } = argumentsOf(name);
    const nullable = Object.entries(properties)
      .filter(([, { anyOf = [] }]) => anyOf.some(({ type }) => type === 'null'))
      .map(([argument]) => argument);
    const optional = Object.keys(properties).filter((argument) => !required.includes(argument));
    expect([name, nullable]).toEqual([name, optional]);
  }
});

test('update_plant with null for omitted arguments changes only the others', async () => {
  const before = await me.user.plant(FULL_PLANT);
  const given = { ...nullsOf('update_plant'), id: before.id, name: 'Monty' };
  const after = await tool(me, 'update_plant', given);
  expect(after).toEqual({ ...before, name: 'Monty', updatedAt: after['updatedAt'] });
});

test('update_event with null for omitted arguments keeps the photos', async () => {
  const { id: plantId } = await me.user.plant();
  const photo = await me.user.photo();
  const { id } = await me.user.event(plantId, { type: 'note', text: 'New', photoIds: [photo.id] });
  const given = { ...nullsOf('update_event'), id, text: 'A new leaf' };
  const after = await tool(me, 'update_event', given);
  expect(after).toMatchObject({ text: 'A new leaf', photos: [{ id: photo.id }] });
});

test('log_care and search_events accept null for omitted arguments', async () => {
  const { id } = await me.user.plant({ location: 'Attic' });
  const byId = await tool(me, 'log_care', { ...nullsOf('log_care'), plantIds: [id] });
  expect(byId['items']).toHaveLength(1);
  await tool(me, 'log_care', { ...nullsOf('log_care'), location: 'Attic' });
  const found = { ...nullsOf('search_events'), plantId: id };
  expect((await tool(me, 'search_events', found))['items']).toHaveLength(2);
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

test('a required argument that is null counts as missing', async () => {
  expect(await refused(me, 'create_plant', { name: null })).toMatch(/name is required/);
  expect(await refused(me, 'get_plant', { id: null })).toMatch(/id is required/);
  expect(await refused(me, 'log_care', { plantIds: null, location: null })).toMatch(
    /plantIds or location is required/,
  );
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

  test('that is empty or null clears nothing', async () => {
    const before = await me.user.plant(FULL_PLANT);
    for (const clear of [[], null]) {
      expect(await tool(me, 'update_plant', { id: before.id, clear })).toEqual(before);
    }
  });

  test.each([
    [{ clear: ['name'] }, /clear must be a list of some of species, location, [^]*careNotes/],
    [{ clear: ['toxic'] }, /clear must be a list/],
    [{ clear: ['colour'] }, /clear must be a list/],
    [{ clear: ['constructor'] }, /clear must be a list/],
    [{ clear: 'species' }, /clear must be a list/],
    [{ clear: [null] }, /clear must be a list/],
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
    for (const name of names) expect(name).toMatch(/^update_/);
  });

  test('is not a field over REST, where null clears a field', async () => {
    const { id } = await me.user.plant(FULL_PLANT);
    await me.user.patch(`/api/plants/${id}`, { clear: ['species'] }).expect(400);
    const { text } = await me.user.patch(`/api/plants/${id}`, { species: null }).expect(200);
    expect(JSON.parse(text)).toMatchObject({ species: null, location: 'Hall' });
  });
});
