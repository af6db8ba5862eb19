import type Joi from 'joi';

import { MAX_DETAILS } from '../../src/core/errors';
import type { Operation } from '../../src/plugins/operation';
import { BAD_VALUES, isBadFor, NO_INTEGERS } from '../support/bad-values';
import type { Field, Ids } from '../support/operations';
import { record } from '../support/client';
import { keptConnections, send } from '../support/raw';
import { sendJson } from '../support/raw-json';
import { faultsOf, withoutDetails } from '../support/shapes';
import type { TestService, TestUser } from '../support/service';
import {
  everythingStored,
  gardenOf,
  fieldsOf,
  operationRows,
  validRequest,
  startService,
} from '../support/program';

let service: TestService;
let user: TestUser;
let ids: Ids;
let before: Record<string, string[]>;

beforeAll(async () => {
  // Without jobs, only the requests of the tests write.
  service = await startService({ jobs: false });
  user = await service.user();
  ids = await gardenOf(user);
  before = await everythingStored(service);
});
afterEach(async () => {
  expect(await everythingStored(service)).toEqual(before);
});
afterAll(() => service.close());

// Refusals are independent, so a test sends its requests at once, which read the account in one query.

const rows = operationRows();
const withBody = rows.filter(([, { body }]) => body);
const queryFields = rows.flatMap(([name, operation]) =>
  fieldsOf(operation.query).map((field) => [name, field.name, { operation, field }] as const),
);

/** Sends a body, given as JSON text; returns the result in short. */
async function outcome(operation: Operation, text: string, mention = ''): Promise<unknown> {
  const { method, path } = validRequest(operation, ids);
  return inShort(await sendJson(service.url, user, method, path, text), mention);
}

const FINE = { status: 400, inErrorShape: true, mentioned: true };

function inShort({ status, body }: { status: number; body: unknown }, mention: string): unknown {
  const { error, code, ...rest } = record(withoutDetails(body));
  const isText = typeof error === 'string' && typeof code === 'string';
  const inErrorShape = isText && Object.keys(rest).length === 0;
  const mentioned = isText && error.includes(mention);
  return inErrorShape && mentioned ? { status, inErrorShape, mentioned } : { status, body };
}

function textWith(operation: Operation, name: string, json: string): string {
  return textOf(operation, { [name]: json });
}

/** A valid body with these members replaced, given as JSON. */
function textOf(operation: Operation, members: Readonly<Record<string, string>>): string {
  const right = Object.entries(validRequest(operation, ids).body ?? {})
    .filter(([name]) => !Object.hasOwn(members, name))
    .map(([name, value]) => [name, JSON.stringify(value)] as const);
  const all = [...right, ...Object.entries(members)];
  return `{${all.map(([name, json]) => `${JSON.stringify(name)}: ${json}`).join(', ')}}`;
}

/** Whether a query field takes values that are not numbers: text, a day or a boolean. */
function takes({ type, values, format, max }: Field, value: string): boolean {
  if (format === 'date') return value === '2026-03-01';
  if (type === 'boolean') return value === 'true';
  const isText = type === 'string' && values.length === 0 && format === undefined;
  return isText && max !== undefined;
}

/** The length of JSON in a request, within the limit for bodies. */
const MAX_JSON = 80_000;

test.each(withBody)(
  '%s refuses invalid values of each field, names the field and stores nothing',
  async (_name, operation) => {
    const fields = fieldsOf(operation.body);
    const tried = new Map(fields.map(({ name }) => [name, 0]));
    const tries = BAD_VALUES.flatMap((value) => {
      const bad = fields.filter((field) => isBadFor(field, value)).map(({ name }) => name);
      const atOnce = Math.max(1, Math.min(MAX_DETAILS, Math.floor(MAX_JSON / value.json.length)));
      const rounds = Array.from({ length: Math.ceil(bad.length / atOnce) }, (_, round) =>
        bad.slice(round * atOnce, (round + 1) * atOnce),
      );
      return rounds.map(async (names) => {
        const text = textOf(operation, Object.fromEntries(names.map((each) => [each, value.json])));
        const { method, path } = validRequest(operation, ids);
        const answer = await sendJson(service.url, user, method, path, text);
        const outcome = { value: value.label, status: answer.status, refused: faultsOf(answer) };
        expect(outcome).toEqual({ value: value.label, status: 400, refused: names.sort() });
        for (const name of names) tried.set(name, (tried.get(name) ?? 0) + 1);
      });
    });
    await Promise.all(tries);
    expect([...tried].filter(([, count]) => count <= 15)).toEqual([]);
  },
);

/** The fields of the response that no caller can set. */
function readOnly({ body, response }: Operation): string[] {
  const own = fieldsOf(body).map(({ name }) => name);
  const shown = fieldsOf(response.schema as Joi.ObjectSchema); // Any other schema has no keys.
  return shown.map(({ name }) => name).filter((name) => !own.includes(name));
}

test.each(withBody)('%s refuses unknown and read-only keys by name', async (_name, operation) => {
  const keys = [
    'noSuchField',
    '$set',
    'constructor',
    'prototype',
    'hasOwnProperty',
    'a.b',
    '🌱',
    ' ',
  ];
  const all = [...keys, ...readOnly(operation)];
  const outcomes = await Promise.all(
    all.map(async (key) => [key, await outcome(operation, textWith(operation, key, '1'), key)]),
  );
  expect(outcomes).toEqual(all.map((key) => [key, FINE]));
});

test.each(withBody)(
  '%s refuses keys that would change prototypes, and strange ones',
  async (_name, operation) => {
    const [field] = fieldsOf(operation.body);
    const keys = ['"\\u0000"', '"\\ud800"', '""', `"${'k'.repeat(90_000)}"`, '"\\u202e"', '"<b>"'];
    const values = ['{"isAdmin": true}', 'null', '1', '[]', '"x"'];
    const tries: [text: string, mention: string][] = [
      ...values.map((json): [string, string] => [
        textWith(operation, '__proto__', json),
        '__proto__',
      ]),
      [textWith(operation, 'constructor', '{"prototype": {"isAdmin": true}}'), 'constructor'],
      [textWith(operation, field?.name ?? '', '{"__proto__": {"isAdmin": true}}'), ''],
      ...keys.map((key): [string, string] => [`{${key}: 1}`, '']),
      [`{"x": ${'{"x":'.repeat(15_000)}0${'}'.repeat(15_000)}}`, ''],
    ];
    const outcomes = await Promise.all(
      tries.map(([text, mention]) => outcome(operation, text, mention)),
    );
    expect(outcomes).toEqual(tries.map(() => FINE));
    expect({}).not.toHaveProperty('isAdmin');
  },
);

test.each(withBody)('%s refuses anything but a JSON object', async (_name, operation) => {
  const texts = [
    '',
    ' ',
    'null',
    'true',
    '7',
    '"fern"',
    '[]',
    '[{}]',
    '{',
    '}',
    '{"name": "fern",}',
    "{'name': 'fern'}",
    '{name: "fern"}',
    '{} {}',
    '{"name": NaN}',
    '{"name": 01}',
    '{"name": "a\nb"}',
    '// fern\n{}',
    '['.repeat(20_000),
  ];
  const isBody = (text: string): boolean =>
    !(operation.bodyIsOptional && ['', 'null'].includes(text));
  const outcomes = await Promise.all(
    texts.filter(isBody).map(async (text) => [text.slice(0, 20), await outcome(operation, text)]),
  );
  expect(outcomes).toEqual(texts.filter(isBody).map((text) => [text.slice(0, 20), FINE]));
});

test.each(queryFields)(
  '%s refuses invalid values of %s in the query, and names it',
  async (_name, name, { operation, field }) => {
    const { method, path, body } = validRequest(operation, ids);
    const base = new URL(path, service.url);
    base.searchParams.delete(name);
    const rest = base.search === '' ? '?' : `${base.search}&`;
    // None of them is a valid cursor either.
    const values = NO_INTEGERS.filter((value) => !takes(field, value));
    const sent = body && JSON.stringify(body);
    const headers = {
      Authorization: `Bearer ${user.token}`,
      ...(sent && {
        'Content-Type': 'application/json',
        'Content-Length': `${Buffer.byteLength(sent)}`,
      }),
    };
    const tries = [...values.map((value) => `${name}=${value}`), `${name}=1&${name}=1`];
    const outcomeOf = async (query: string): Promise<unknown> => {
      const answer = await send(service.url, method, `${base.pathname}${rest}${query}`, {
        headers,
        ...(sent && { body: sent }),
        agent: keptConnections,
      });
      const said = JSON.parse(answer.body) as unknown;
      return [query, inShort({ status: answer.status, body: said }, name)];
    };
    const all = [...tries, `${name}[$gt]=1`, `${name}[]=1`];
    expect(await Promise.all(all.map(outcomeOf))).toEqual(all.map((query) => [query, FINE]));
  },
);

test('the tests cover fields of bodies and queries', () => {
  expect(withBody.flatMap(([, { body }]) => fieldsOf(body)).length).toBeGreaterThan(50);
  expect(queryFields.length).toBeGreaterThanOrEqual(4);
});
