import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import Joi from 'joi';
import pino from 'pino';

import type { Operation } from '../../src/plugins/operation';
import { definePlugin } from '../../src/plugins/plugin';
import {
  App,
  surfaceOf,
  loadPlugins,
  write,
  compareSurfaces,
  surfaceDocument,
} from '../support/program';

const file = path.resolve(__dirname, '../../docs/surface.md');
const plugins = loadPlugins();

/** The document of the program with one more plugin, which has these operations, if it is loaded. */
function documentWith(...operations: object[]): string {
  const herbs = definePlugin({
    name: 'herbs',
    requires: [],
    scopes: { 'herbs:read': 'Read herbs', 'herbs:write': 'Change herbs' },
    // They may be faulty: the loader is what has to notice.
    setup: () => ({ operations: () => operations as Operation[] }),
  });
  const app = new App({ plugins: [...plugins, herbs], env: {}, log: pino({ level: 'silent' }) });
  return surfaceDocument(surfaceOf(app.plugins));
}

/** Rows that only one of two documents has. */
function differentRows(before: string, after: string): string[] {
  const [old, current] = [before.split('\n'), after.split('\n')];
  return [
    ...old.filter((line) => !current.includes(line)),
    ...current.filter((line) => !old.includes(line)),
  ];
}

const body = Joi.object({ name: Joi.string().required() });
const create = write({
  method: 'POST',
  path: '/api/herbs',
  summary: 'Add a herb',
  access: { scope: 'herbs:write' },
  body,
  response: { schema: Joi.object({ id: Joi.string() }), description: 'The herb' },
  tool: { name: 'create_herb', description: 'Add a herb.' },
  handler: async () => ({}),
});
const list: Operation = {
  ...create,
  ...{ method: 'GET', access: { scope: 'herbs:read' }, limit: { none: 'it is a test' } },
  ...{ idempotent: false, tool: { none: 'it is a test' } },
};
const committed = documentWith(create, list);

test('docs/surface.md is what the code says', () => {
  const app = new App({ plugins, env: {}, log: pino({ level: 'silent' }) });
  const current = surfaceDocument(surfaceOf(app.plugins));
  if (process.env['UPDATE_DOCS'] !== undefined) writeFileSync(file, current);
  const text = readFileSync(file, 'utf8');
  const changes = compareSurfaces(text, current);
  if (text !== current) {
    throw new Error(
      ['docs/surface.md is out of date; review this, then run make docs:', ...changes].join('\n'),
    );
  }
});

test('docs/surface.md can be read in 120 columns', () => {
  const tooLong = committed.split('\n').filter((line) => line.length > 120);
  expect(tooLong).toEqual([]);
});

test('an operation without a scope is refused, and so is in no table', () => {
  expect(() => documentWith({ ...create, access: undefined })).toThrow(
    'plugins/herbs: POST /api/herbs: access is required',
  );
});

test.each<[string, Operation, string]>([
  [
    'another scope',
    { ...create, access: { scope: 'herbs:read' } },
    'scope changed: POST /api/herbs (herbs:write is now herbs:read)',
  ],
  [
    'any token instead of a scope',
    { ...create, access: { anyToken: 'it is a test' } },
    'opened to any token: POST /api/herbs (was herbs:write)',
  ],
  [
    'one more field that it accepts',
    { ...create, body: body.keys({ notes: Joi.string() }) },
    'takes or gives something else: POST /api/herbs (request)',
  ],
  [
    'a longer text that it accepts',
    { ...create, body: Joi.object({ name: Joi.string().max(9).required() }) },
    'takes or gives something else: POST /api/herbs (request)',
  ],
  [
    'one more field that it gives',
    { ...create, response: { ...create.response, schema: Joi.object({ n: Joi.number() }) } },
    'takes or gives something else: POST /api/herbs (response)',
  ],
  [
    'another rate budget',
    { ...create, limit: 'reads' },
    'budget changed: POST /api/herbs (writes is now reads)',
  ],
  [
    'a feature of one tier',
    { ...create, feature: { name: 'herb garden', tiers: ['pro'] } },
    'tier changed: POST /api/herbs (- is now pro)',
  ],
  [
    'no Idempotency-Key',
    { ...create, idempotent: false },
    'key changed: POST /api/herbs (yes is now -)',
  ],
])('%s is one row that differs, and is said in one line', (_, changed, line) => {
  const current = documentWith(changed, list);
  expect(differentRows(committed, current)).toHaveLength(2);
  expect(compareSurfaces(committed, current)).toEqual([line]);
});

test('an operation that is made public is one row that differs, and is said in one line', () => {
  const current = documentWith(create, { ...list, access: { public: 'it is a test' } });
  expect(differentRows(committed, current)).toHaveLength(2);
  expect(compareSurfaces(committed, current)).toEqual([
    'opened to the public: GET /api/herbs (was herbs:read)',
  ]);
  expect(compareSurfaces(current, committed)).toEqual([
    'closed to the public: GET /api/herbs (now herbs:read)',
  ]);
});

test('an operation that comes or goes is one row, and is said in one line', () => {
  const without = documentWith(list);
  expect(differentRows(committed, without)).toHaveLength(1);
  expect(compareSurfaces(without, committed)).toEqual([
    'added: POST /api/herbs, anyone with herbs:write',
  ]);
  expect(compareSurfaces(committed, without)).toEqual([
    'removed: POST /api/herbs (was herbs:write)',
  ]);
});

test('an index that comes is one row, and is said in one line', () => {
  const row = '| tokens | accounts | shared | hash | unique |';
  expect(compareSurfaces(committed.replace(`${row}\n`, ''), committed)).toEqual([
    'added in Collections: tokens, accounts, shared, hash, unique',
  ]);
});

test('a description, or the order of fields, is no difference', () => {
  const text = Joi.string().required();
  const [one, other] = [
    Joi.object({ name: text, place: text }),
    Joi.object({ place: text, name: text.description('What it is called') }),
  ];
  expect(documentWith({ ...create, body: other })).toBe(documentWith({ ...create, body: one }));
});
