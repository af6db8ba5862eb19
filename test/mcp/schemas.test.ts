import type { ValidateFunction } from 'ajv/dist/2020';

import { COMMON_KEYWORDS } from '../../plugins/mcp/tools/input-schemas';
import { isRecord } from '../../src/core/values';
import { languageTag } from '../../src/core/text/text';
import { timezoneName } from '../../src/core/time';
import type { Operation } from '../../src/plugins/operation';
import type { Ids } from '../support/operations';
import { keptConnections, send } from '../support/raw';
import { faultsOf } from '../support/shapes';
import type { TestService } from '../support/service';
import { type Property, valuesFor } from './cases';
import {
  ajv,
  assistant,
  type Assistant,
  callTool,
  listTools,
  type Tool,
  validators,
} from './support';
import { ToolArguments, gardenOf, toolRows, validRequest, startService } from '../support/program';

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

/** A complete call of a tool; each case changes one argument. */
function baseOf(operation: Operation): Record<string, unknown> {
  return validRequest(operation, ids).toolArguments;
}

/** Whether REST accepts the arguments of a tool as path, query and body. */
async function restAccepts(
  operation: Operation,
  given: Record<string, unknown>,
): Promise<{ accepts: boolean; answer: string; refused: string[] }> {
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
    agent: keptConnections,
  });
  expect(status).toBeLessThan(500);
  const { code } = JSON.parse(text) as { code?: string };
  // The operation's own errors concern records, or fields together, which schemas do not express.
  const beyond = [...Object.values(operation.params ?? {}), ...(operation.errors ?? [])];
  return {
    accepts: status < 300 || beyond.some((error) => error.code === code),
    refused: code === 'validation_error' ? faultsOf({ body: JSON.parse(text) as unknown }) : [],
    answer: text,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The properties of a tool outside its path, each with values to try. */
function valuesOf(operation: Operation): [name: string, unknown[]][] {
  // The schemas in properties.
  const { properties } = new ToolArguments(operation).exactSchema as unknown as {
    properties: Record<string, Property>;
  };
  return Object.entries(properties)
    .filter(([name]) => !(name in (operation.params ?? {})))
    .map(([name, schema]) => [
      name,
      // Queries are text, so no type can be wrong there.
      valuesFor(schema).filter(
        (value) => !operation.query || (schema.type !== 'string' && !isNumeral(value)),
      ),
    ]);
}

/** The arguments of a call, and those that the error of REST must name, if known. */
type Case = [given: Record<string, unknown>, refused?: string[]];

/** Calls of a tool: a valid one, and variants with missing, additional or changed arguments. */
function* casesOf(operation: Operation, accepts: ValidateFunction): Generator<Case> {
  const requires = ('name' in operation.tool && operation.tool.requires) || [];
  const given = requires.reduce(without, baseOf(operation));
  yield [given];
  const values = valuesOf(operation);
  for (const [name] of values) yield [without(given, name)];
  if (operation.query) {
    yield [{ ...given, noSuchField: 'green' }, ['noSuchField']];
    for (const [name, each] of values) {
      for (const value of each) yield [{ ...given, [name]: value }];
    }
    return;
  }
  yield [{ ...given, noSuchField: 'green', userId: 'me' }, ['noSuchField', 'userId']];
  // REST reports all faults of a body at once, so the faults of all arguments are tried at once.
  const rounds = Math.max(...values.map(([, each]) => each.length));
  for (let round = 0; round < rounds; round += 1) {
    const tried = values
      .filter(([, each]) => round < each.length)
      .map(([name, each]) => [name, each[round]] as const);
    const isGood = ([name, value]: readonly [string, unknown]): boolean =>
      accepts({ ...given, [name]: value });
    yield [{ ...given, ...Object.fromEntries(tried.filter(isGood)) }];
    const bad = tried.filter((each) => !isGood(each));
    if (bad.length === 0) continue;
    yield [{ ...given, ...Object.fromEntries(bad) }, bad.map(([name]) => name).sort()];
  }
}

function without(given: Record<string, unknown>, property: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => name !== property));
}

/** The same for a tool, which has no null and may require what has a default over REST. */
function forTool(operation: Operation, given: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(given).filter(([, value]) => value !== null);
  return { ...baseOf(operation), ...Object.fromEntries(entries) };
}

function isNumeral(value: unknown): boolean {
  return typeof value === 'string' && /^\d+$/.test(value);
}

/** JSON Schema cannot express that a time zone or language exists, or that one of two fields is needed. */
function isBeyondSchemas(name: string, given: Record<string, unknown>): boolean {
  if (name === 'log_care') return 'plantIds' in given === 'location' in given;
  const { timezone = 'UTC', language = 'en' } = given;
  const isKnown = timezoneName(String(timezone)) && languageTag(String(language));
  return name === 'update_account' && isKnown === undefined;
}

/** Tools with arguments that are valid only together, which their schema does not express. */
const TOGETHER = new Set([
  'crop_photo',
  'create_schedule',
  'update_schedule',
  'complete_care',
  'skip_care',
  'snooze_care',
]);

function operationOf(name: string): Operation {
  const found = service.app.operations.find(({ tool }) => 'name' in tool && tool.name === name);
  if (!found) throw new Error(`There is no tool ${name}.`);
  return found;
}

/** Tools with arguments of their own. */
const UNLIKE_REST = new Set(['import_plants', 'list_month_events']);

const withArguments = toolRows().filter(
  ([name, { query, body }]) => (query ?? body) && !UNLIKE_REST.has(name),
);
const withoutArguments = toolRows().filter(
  ([, { params, query, body }]) => !params && !query && !body,
);

test.each(withArguments)(
  'the schemas of %s accept everything that REST accepts, and the exact one nothing else',
  async (name, operation) => {
    const input = validators(tools).get(name)?.input;
    const exact = ajv.compile(new ToolArguments(operation).exactSchema);
    const accepted = { true: 0, false: 0 };
    const cases = [...casesOf(operation, exact)].filter(([given]) => !isBeyondSchemas(name, given));
    // Concurrently: writes then share transactions, and the calls are independent.
    const answers = await Promise.all(cases.map(([given]) => restAccepts(operation, given)));
    for (const [index, { accepts, refused, answer }] of answers.entries()) {
      const [given, bad] = cases[index] ?? [{}];
      const isValid = exact(given);
      if (isValid && !accepts && TOGETHER.has(name)) continue;
      expect([given, answer, accepts]).toEqual([given, answer, isValid]);
      if (isValid) expect([given, input?.(forTool(operation, given))]).toEqual([given, true]);
      accepted[`${isValid}`] += 1;
      // The error may name only one of several fields that exclude each other.
      if (bad && TOGETHER.has(name)) expect(bad).toEqual(expect.arrayContaining(refused));
      else if (bad) expect([given, refused]).toEqual([given, bad]);
    }
    // There are accepted and refused calls to compare.
    expect(Math.min(accepted.true, accepted.false)).toBeGreaterThan(0);
  },
);

test('schemas have only what converters for all well-known models take without loss', () => {
  for (const { name, inputSchema, outputSchema } of tools) {
    expect([name, faultsIn(inputSchema)]).toEqual([name, []]);
    expect([name, JSON.stringify(outputSchema)]).toEqual([
      name,
      expect.not.stringMatching(/"(anyOf|oneOf|allOf|not|enum|const|null)"/),
    ]);
  }
});

/** What in the schema of an argument some model APIs refuse, or their converters lose. */
function faultsIn(schema: unknown): string[] {
  if (!isRecord(schema)) return ['no schema'];
  const { type, enum: values, format, properties, items } = schema;
  const isOfTexts =
    Array.isArray(values) && type === 'string' && values.every((each) => typeof each === 'string');
  return [
    ...Object.keys(schema).filter((key) => !COMMON_KEYWORDS.has(key)),
    ...(typeof type === 'string' && type !== 'null' ? [] : ['not one type']),
    ...(values === undefined || isOfTexts ? [] : ['an enum of others than strings']),
    ...(format === undefined || format === 'date-time' ? [] : ['another format']),
    ...(type === 'array' ? faultsIn(items) : []),
    ...Object.values(isRecord(properties) ? properties : {}).flatMap(faultsIn),
  ];
}

test('isJournal and type agree with REST in all combinations', async () => {
  const operation = operationOf('create_event');
  const input = ajv.compile(new ToolArguments(operation).exactSchema);
  for (const isJournal of [undefined, true, false, null, 'true']) {
    for (const type of [undefined, 'journal', 'watered', 'note', 'diary', null]) {
      const given = JSON.parse(JSON.stringify({ ...baseOf(operation), isJournal, type })) as Record<
        string,
        unknown
      >;
      const { accepts } = await restAccepts(operation, given);
      expect([given, input(given)]).toEqual([given, accepts]);
    }
  }
});

test('every tool with an id refuses other values than UUIDs', async () => {
  for (const { name, inputSchema } of tools) {
    const properties = inputSchema['properties'] as Record<string, Property>;
    if (!properties['id']) continue;
    for (const id of [undefined, null, 7, '', 'fern', ['x']]) {
      const given = { ...baseOf(operationOf(name)), id };
      const result = await callTool(me, name, given);
      expect(result.isError).toBe(true);
      expect(result.content[0]?.text).toMatch(
        /^validation_error: id (is required|must be a UUID)\./,
      );
    }
  }
});

test('tools without arguments refuse any', async () => {
  expect(withoutArguments.length).toBeGreaterThanOrEqual(4);
  for (const [name] of withoutArguments) {
    const result = await callTool(me, name, { colour: 'green' });
    expect(result.content[0]?.text).toContain('colour is not allowed');
  }
});
