import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import pino from 'pino';

import { App } from '../../src/app/app';
import { hostErrors } from '../../src/core/errors';
import { settingsOf } from '../../src/plugins/plugin';
import { loadPlugins } from '../../src/plugins/loader';
import { operationName } from '../../src/plugins/operation';
import { hostSettings } from '../../src/core/host-settings';

const file = path.resolve(__dirname, '../../README.md');
const plugins = loadPlugins();
const app = new App({ plugins, env: {}, log: pino({ level: 'silent' }) });

/** The tables of the README that follow from the code, by the first cell of their heads. */
const tables: Record<string, string[][]> = {
  variable: [...Object.values(hostSettings), ...plugins.flatMap(settingsOf)].map(
    ({ name, fallback, description }) => [code(name), code(fallback), description],
  ),
  code: [...hostErrors, ...plugins.flatMap((plugin) => plugin.errors ?? [])].map((error) => [
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
};

function code(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return text === '' ? '' : `\`${text}\``;
}

/** The README with its tables as the code would have them. */
function rendered(readme: string): string {
  const lines = readme.split('\n');
  for (const [title, rows] of Object.entries(tables)) {
    const head = lines.findIndex((line) => line.startsWith(`| ${title} |`));
    const length = lines.slice(head).findIndex((line) => !line.startsWith('|'));
    lines.splice(head + 2, length - 2, ...rows.map((row) => `| ${row.join(' | ')} |`));
  }
  return lines.join('\n');
}

test('the tables of the README are what the code says; make docs renews them', () => {
  const readme = readFileSync(file, 'utf8');
  if (process.env['UPDATE_DOCS'] !== undefined) writeFileSync(file, rendered(readme));
  else expect(readme).toBe(rendered(readme));
});
