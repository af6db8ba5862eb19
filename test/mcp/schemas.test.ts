import type { Operation } from '../../src/plugins/operation';
import { send } from '../support/raw';
import { startService, type TestService } from '../support/service';
import { type Property, valuesFor } from './cases';
import { assistant, type Assistant, callTool, listTools, type Tool, validators } from './support';

let service: TestService;
let me: Assistant;
let tools: Tool[];
let base: Map<string, Record<string, unknown>>;

beforeAll(async () => {
  service = await startService({ env: { TIER_PRO_PLANTS: '100000' } });
  me = await assistant(service);
  const { user } = me;
  tools = await listTools(me);
  const plant = await user.plant();
  const event = await user.event(plant.id, { type: 'growth', growthAmount: 1, growthUnit: 'cm' });
  const photo = await user.photo();
  // A complete call of each tool whose arguments are varied; each case changes one of them.
  base = new Map<string, Record<string, unknown>>([
    ['create_plant', { name: 'Fern' }],
    ['update_plant', { id: plant.id }],
    ['create_event', { id: plant.id }],
    ['update_event', { id: event.id }],
    ['list_events', { id: plant.id }],
    ['list_month_events', { id: plant.id, monthStart: 0, monthEnd: 1 }],
    [
      'create_photo',
      {
        imagehostPublicId: 'garden/fern',
        secureUrl: 'https://images.example.com/fern.jpg',
        width: 800,
        height: 600,
        format: 'jpg',
      },
    ],
    ['crop_photo', { id: photo.id, x: 0, y: 0, width: 600, height: 600 }],
  ]);
});
afterAll(() => service.close());

/** Refusals that are about records or about fields together, which no schema can tell. */
const BEYOND_SCHEMAS = ['photo_not_found', 'plant_not_found', 'invalid_crop', 'invalid_cursor'];

/** Whether REST accepts the arguments of a tool, laid out as it wants them. */
async function restAccepts(
  operation: Operation,
  given: Record<string, unknown>,
): Promise<{ accepts: boolean; answer: string }> {
  const rest = Object.entries(given).filter(([name]) => !(name in (operation.params ?? {})));
  const path = operation.path.replace('{id}', String(given['id']));
  const query = Object.fromEntries(rest.map(([name, value]) => [name, textOf(value)]));
  const search = operation.body ? '' : `?${new URLSearchParams(query).toString()}`;
  const body = operation.body ? JSON.stringify(Object.fromEntries(rest)) : undefined;
  const { status, body: text } = await send(service.url, operation.method, path + search, {
    headers: {
      Authorization: `Bearer ${me.token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
  expect(status).toBeLessThan(500);
  const { code } = JSON.parse(text) as { code?: string };
  return { accepts: status < 300 || BEYOND_SCHEMAS.includes(code ?? ''), answer: text };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Every case of a tool: its base with one argument changed, missing, or too many. */
function casesOf({ name, inputSchema }: Tool): Record<string, unknown>[] {
  const given = base.get(name) ?? {};
  const properties = inputSchema['properties'] as Record<string, Property>;
  const operation = operationOf(name);
  const cases: Record<string, unknown>[] = [given];
  for (const [property, schema] of Object.entries(properties)) {
    if (property in (operation.params ?? {})) continue;
    cases.push(without(given, property));
    for (const value of valuesFor(schema)) {
      // REST knows only text here, so that a type cannot be wrong.
      if (operation.query && (schema.type === 'string' || isNumeral(value))) continue;
      cases.push({ ...given, [property]: value });
    }
  }
  if (!operation.query) cases.push({ ...given, colour: 'green' }, { ...given, userId: 'me' });
  return cases.filter((each) => name !== 'list_month_events' || isOrdered(each));
}

function without(given: Record<string, unknown>, property: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => name !== property));
}

function isNumeral(value: unknown): boolean {
  return typeof value === 'string' && /^\d+$/.test(value);
}

const LONGEST_RANGE_MS = 366 * 24 * 60 * 60 * 1000;

/** That one bound depends on the other is said in words only: JSON Schema cannot. */
function isOrdered({ monthStart, monthEnd }: Record<string, unknown>): boolean {
  if (!Number.isSafeInteger(monthStart) || !Number.isSafeInteger(monthEnd)) return true;
  const range = Number(monthEnd) - Number(monthStart);
  return range >= 0 && range <= LONGEST_RANGE_MS;
}

function operationOf(name: string): Operation {
  const found = service.app.operations.find(({ tool }) => 'name' in tool && tool.name === name);
  if (!found) throw new Error(`There is no tool ${name}.`);
  return found;
}

test.each([
  'create_plant',
  'update_plant',
  'create_event',
  'update_event',
  'list_events',
  'list_month_events',
  'create_photo',
  'crop_photo',
])(
  'the input schema of %s accepts what REST accepts, and nothing else',
  async (name) => {
    const tool = tools.find((each) => each.name === name);
    const input = validators(tools).get(name)?.input;
    if (!tool || !input) throw new Error(`There is no tool ${name}.`);
    const cases = casesOf(tool);
    const differences: unknown[] = [];
    let accepted = 0;
    for (const given of cases) {
      const rest = await restAccepts(operationOf(name), given);
      if (rest.accepts) accepted += 1;
      if (input(given) !== rest.accepts) differences.push([given, rest.answer, input.errors]);
    }
    expect(differences).toEqual([]);
    // Both ways are there to be told apart.
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThan(cases.length);
  },
  120_000,
);

test('the types of journal entries agree in all combinations', async () => {
  const operation = operationOf('create_event');
  const input = validators(tools).get('create_event')?.input;
  for (const isJournal of [undefined, true, false, null, 'true']) {
    for (const type of [undefined, 'journal', 'watered', 'note', 'diary', null]) {
      const given = JSON.parse(
        JSON.stringify({ ...base.get('create_event'), isJournal, type }),
      ) as Record<string, unknown>;
      const { accepts } = await restAccepts(operation, given);
      expect([given, input?.(given)]).toEqual([given, accepts]);
    }
  }
});

test('every tool with an id refuses what is not a UUID, by schema and by result', async () => {
  for (const { name, inputSchema } of tools) {
    const properties = inputSchema['properties'] as Record<string, Property>;
    if (!properties['id']) continue;
    const input = validators(tools).get(name)?.input;
    for (const id of [undefined, null, 7, '', 'fern', ['x']]) {
      const given = { ...base.get(name), id };
      expect(input?.(JSON.parse(JSON.stringify(given)))).toBe(false);
      const result = await callTool(me, name, given);
      expect(result.isError).toBe(true);
      expect(result.content[0]?.text).toMatch(
        /^validation_error: id (is required|must be a UUID)\./,
      );
    }
  }
});

test('tools without arguments take none', async () => {
  for (const name of ['list_plants', 'list_locations', 'get_insights', 'list_announcements']) {
    const input = validators(tools).get(name)?.input;
    expect([input?.({}), input?.({ colour: 'green' })]).toEqual([true, false]);
    const result = await callTool(me, name, { colour: 'green' });
    expect(result.content[0]?.text).toContain('colour is not allowed');
  }
});
