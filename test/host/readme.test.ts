import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import pino from 'pino';

import { settingsOf } from '../../src/plugins/plugin';
import { type JsonSchema, jsonSchemaOf } from '../../src/fields/json-schema';
import { App, loadPlugins, operationName, CONVENTIONS, hostSettings } from '../support/program';

/** The tables that there must be; those of fields are there for the operations that need them. */
const REQUIRED = ['variable', 'code', 'operation', 'rule', 'field of `GET /api/insights`'];

const file = path.resolve(__dirname, '../../README.md');
const plugins = loadPlugins();
const app = new App({ plugins, env: {}, log: pino({ level: 'silent' }) });

/** The tables of the README that follow from the code, by the first cell of their heads. */
const tables: Record<string, string[][]> = {
  variable: [...Object.values(hostSettings), ...plugins.flatMap(settingsOf)].map(
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
  operation: app.operations
    .filter((operation) => operation.path.startsWith('/api/'))
    .map((operation) => [
      code(operationName(operation)),
      'scope' in operation.access ? operation.access.scope : 'any token',
      operation.summary,
    ]),
  rule: CONVENTIONS.map(({ topic, rule }) => [topic, rule]),
  ...Object.fromEntries(
    app.operations.map((operation) => [
      `field of ${code(operationName(operation))}`,
      describedFields(jsonSchemaOf(operation.response.schema, 'output')),
    ]),
  ),
};

/** The fields of an answer of which there is something to say, each with that. */
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
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The README with its tables as the code would have them. */
function rendered(readme: string): string {
  const lines = readme.split('\n');
  for (const [title, rows] of Object.entries(tables)) {
    const head = lines.findIndex((line) => line.startsWith(`| ${title} |`));
    if (head === -1) continue;
    const length = lines.slice(head).findIndex((line) => !line.startsWith('|'));
    lines.splice(head + 2, length - 2, ...rows.map((row) => `| ${row.join(' | ')} |`));
  }
  return lines.join('\n');
}

test('the tables of the README are what the code says; make docs renews them', () => {
  const readme = readFileSync(file, 'utf8');
  if (process.env['UPDATE_DOCS'] !== undefined) writeFileSync(file, rendered(readme));
  else expect(readme).toBe(rendered(readme));
  for (const title of REQUIRED) expect(readme).toContain(`\n| ${title} | `);
});
