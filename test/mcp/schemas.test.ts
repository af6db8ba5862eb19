import type { Operation } from '../../src/plugins/operation';
import { gardenOf } from '../support/garden';
import { type Ids, toolRows, validRequest } from '../support/operations';
import { send } from '../support/raw';
import { startService, type TestService } from '../support/service';
import { type Property, valuesFor } from './cases';
import { assistant, type Assistant, callTool, listTools, type Tool, validators } from './support';

let service: TestService;
let me: Assistant;
let tools: Tool[];
let ids: Ids;

beforeAll(async () => {
  service = await startService({ env: { TIER_PRO_PLANTS: '100000' } });
  me = await assistant(service);
  tools = await listTools(me);
  ids = await gardenOf(me.user);
});
afterAll(() => service.close());

/** A complete call of a tool; each case changes one of its arguments. */
function baseOf(operation: Operation): Record<string, unknown> {
  return validRequest(operation, ids).toolArguments;
}

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
  // What an operation declares beside is about records or about fields together, beyond schemas.
  const beyond = [...Object.values(operation.params ?? {}), ...(operation.errors ?? [])];
  return { accepts: status < 300 || beyond.some((error) => error.code === code), answer: text };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Every case of a tool: its base with one argument changed, missing, or too many. */
function casesOf({ name, inputSchema }: Tool, operation: Operation): Record<string, unknown>[] {
  const given = baseOf(operation);
  const properties = inputSchema['properties'] as Record<string, Property>;
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

const withArguments = toolRows().filter(([, { query, body }]) => query ?? body);
const withoutArguments = toolRows().filter(
  ([, { params, query, body }]) => !params && !query && !body,
);

test.each(withArguments)(
  'the input schema of %s accepts what REST accepts, and nothing else',
  async (name, operation) => {
    const tool = tools.find((each) => each.name === name);
    const input = validators(tools).get(name)?.input;
    if (!tool || !input) throw new Error(`There is no tool ${name}.`);
    const cases = casesOf(tool, operation);
    const differences: unknown[] = [];
    let accepted = 0;
    for (const given of cases) {
      const rest = await restAccepts(operation, given);
      if (rest.accepts) accepted += 1;
      if (input(given) !== rest.accepts) differences.push([given, rest.answer, input.errors]);
    }
    expect(differences).toEqual([]);
    // There are cases of both kinds.
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
      const given = JSON.parse(JSON.stringify({ ...baseOf(operation), isJournal, type })) as Record<
        string,
        unknown
      >;
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
      const given = { ...baseOf(operationOf(name)), id };
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
  expect(withoutArguments.length).toBeGreaterThanOrEqual(4);
  for (const [name] of withoutArguments) {
    const input = validators(tools).get(name)?.input;
    expect([input?.({}), input?.({ colour: 'green' })]).toEqual([true, false]);
    const result = await callTool(me, name, { colour: 'green' });
    expect(result.content[0]?.text).toContain('colour is not allowed');
  }
});
