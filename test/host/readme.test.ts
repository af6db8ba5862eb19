import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import pino from 'pino';

import { settingsOf } from '../../src/plugins/plugin';
import { type JsonSchema, jsonSchemaOf } from '../../src/fields/json-schema';
import {
  App,
  CONVENTIONS,
  hostSettings,
  loadPlugins,
  operationName,
  requiredScopes,
  surfaceOf,
} from '../support/program';
import { EVERY_SHARD } from '../support/every-shard';

const ROOT = path.resolve(__dirname, '../..');

/** The tables that documents must have; other tables of fields are compared if they exist. */
const DOCUMENTS: [string, string[]][] = [
  [
    'docs/api.md',
    ['operation', 'rule', 'code', 'operation of a backend', 'field of `GET /api/insights`'],
  ],
  ['docs/settings.md', ['variable']],
  ['docs/scaling.md', ['collection on one shard', 'query of all shards']],
];
const MAX_LINES = 150;

const plugins = loadPlugins();
const app = new App({ plugins, env: {}, log: pino({ level: 'silent' }) });
const { collections } = surfaceOf(app);
const operations = app.operations.filter(({ path: at }) => at.startsWith('/api/'));

/** The tables that are generated from the code, by the first cell of their header. */
const tables: Record<string, string[][]> = {
  variable: byGroup([...Object.values(hostSettings), ...plugins.flatMap(settingsOf)]).map(
    ({ name, fallback, description, fileVariable }) => [
      code(name),
      code(fallback),
      fileVariable === undefined
        ? description
        : `${description}; or in a file that \`${fileVariable}\` names`,
    ],
  ),
  code: app.description.errors.map((error) => [
    code(error.code),
    String(error.status),
    error.meaning,
  ]),
  operation: operations
    .filter(({ limit }) => limit !== 'backend')
    .map((operation) => [
      code(operationName(operation)),
      requiredScopes(operation).join(', ') || 'any token',
      operation.summary,
    ]),
  'operation of a backend': operations
    .filter(({ limit }) => limit === 'backend')
    .map((operation) => [code(operationName(operation)), operation.summary]),
  'collection on one shard': collections.flatMap(({ name, sharding }) =>
    'oneShard' in sharding ? [[code(name), sharding.oneShard]] : [],
  ),
  'query of all shards': Object.entries(EVERY_SHARD).map(([query, sender]) => [
    code(query),
    sender,
  ]),
  rule: CONVENTIONS.map(({ topic, rule }) => [topic, rule]),
  ...Object.fromEntries(
    app.operations.map((operation) => [
      `field of ${code(operationName(operation))}`,
      describedFields(jsonSchemaOf(operation.response.schema, 'output')),
    ]),
  ),
};

/** Settings whose names begin with the same word are together, and limits of accounts come last. */
function byGroup<T extends { name: string }>(settings: readonly T[]): T[] {
  const wordOf = ({ name }: { name: string }): string => name.split('_')[0] ?? '';
  const words = [...new Set(settings.map(wordOf))];
  const isLimit = (word: string): boolean => word === 'RATE' || word === 'TIER';
  const ordered = [...words.filter((word) => !isLimit(word)), ...words.filter(isLimit)];
  return ordered.flatMap((word) => settings.filter((setting) => wordOf(setting) === word));
}

/** The fields of a response that have a description. */
function describedFields(schema: JsonSchema, place = ''): string[][] {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  return properties.flatMap(([name, field]) => [
    ...('description' in field ? [[code(`${place}${name}`), text(field['description'])]] : []),
    ...describedFields(field, `${place}${name}.`),
  ]);
}

function code(value: unknown): string {
  return text(value) === '' ? '' : `\`${text(value)}\``;
}

function text(value: unknown): string {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
}

/** A document with its tables generated from the code. */
function rendered(document: string): string {
  const lines = document.split('\n');
  for (const [title, rows] of Object.entries(tables)) {
    const head = lines.findIndex((line) => line.startsWith(`| ${title} |`));
    if (head === -1) continue;
    const length = lines.slice(head).findIndex((line) => !line.startsWith('|'));
    lines.splice(head + 2, length - 2, ...rows.map((row) => `| ${row.join(' | ')} |`));
  }
  return lines.join('\n').replace(/(?<=^```\n)use plantcare\n[^`]*/m, () => shardingCommands());
}

/** What makes a cluster shard each collection that is not whole. */
function shardingCommands(): string {
  const sharded = collections.flatMap(({ name, sharding }) =>
    'shardKey' in sharding
      ? [`sh.shardCollection('plantcare.${name}', { ${sharding.shardKey}: 1 })`]
      : [],
  );
  return ['use plantcare', "sh.enableSharding('plantcare')", ...new Set(sharded), ''].join('\n');
}

test('each unique index of a sharded collection begins with the shard key', () => {
  const others = collections.flatMap(({ name, sharding, indexes }) =>
    'shardKey' in sharding
      ? indexes
          .filter(({ fields, options }) => {
            return options['unique'] === true && Object.keys(fields)[0] !== sharding.shardKey;
          })
          .map(() => name)
      : [],
  );
  expect(others).toEqual([]);
});

test.each(DOCUMENTS)('the tables of %s equal the code; make docs regenerates them', (name, has) => {
  const file = path.join(ROOT, name);
  const document = readFileSync(file, 'utf8');
  if (process.env['UPDATE_DOCS'] !== undefined) writeFileSync(file, rendered(document));
  else expect(document).toBe(rendered(document));
  for (const title of has) expect(document).toContain(`\n| ${title} | `);
});

test.each(['README.md', 'docs/architecture.md'])('%s has at most 150 lines', (name) => {
  const lines = readFileSync(path.join(ROOT, name), 'utf8').trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(MAX_LINES);
});

test('comments cite existing sections of documents', () => {
  const missing: string[] = [];
  for (const folder of ['src', 'plugins', 'test']) {
    for (const file of sourcesIn(path.join(ROOT, folder))) {
      // Comments are wrapped.
      const source = readFileSync(file, 'utf8').replaceAll(/\n *(\*|\/\/) ?/g, ' ');
      for (const [, name = '', title = ''] of source.matchAll(/(docs\/[\w-]+\.md), "([^"]+)"/g)) {
        const document = readFileSync(path.join(ROOT, name), 'utf8');
        if (!new RegExp(`^#+ ${title}$`, 'm').test(document))
          missing.push(`${file}: ${name}, ${title}`);
      }
    }
  }
  expect(missing).toEqual([]);
});

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => path.join(folder, name));
}
