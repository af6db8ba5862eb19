import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');
const DOCUMENT = readFileSync(path.join(ROOT, 'docs/promises.md'), 'utf8');

/** A row of a table: what is promised, and the file and name of the test that holds it. */
const ROW = /^\|.*?\| `([\w/.-]+\.test\.ts)` +\| (.+?) +\|$/gm;

const rows = [...DOCUMENT.matchAll(ROW)].map(([, file = '', name = '']) => [file, name] as const);

test('there are promises to check', () => {
  expect(rows.length).toBeGreaterThan(50);
});

test.each(rows)('%s has the test "%s"', (file, name) => {
  const source = path.join(ROOT, file);
  expect(existsSync(source)).toBe(true);
  expect(readFileSync(source, 'utf8')).toContain(`'${name}'`);
});
