import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');
const DOCUMENT = readFileSync(path.join(ROOT, 'docs/promises.md'), 'utf8');
const MAKEFILE = readFileSync(path.join(ROOT, 'Makefile'), 'utf8');

/** What is promised, and the file and name of the test that holds it. */
const HELD_BY_TEST = /^\|.*?\| `([\w/.-]+\.test\.ts)` +\| (.+?) +\|$/;
/** The same of what no single test holds. */
const HELD_BY_COMMAND = /^\|.+?\| `make ([\w-]+)` +\|$/;
const HEAD = /^\| (promise|-+) +\|/;

const lines = DOCUMENT.split('\n').filter((line) => line.includes('|') && !HEAD.test(line));
const rows = lines.flatMap((line) => {
  const [, file, name] = HELD_BY_TEST.exec(line) ?? [];
  return file !== undefined && name !== undefined ? [[file, name] as const] : [];
});
const commands = lines.flatMap((line) => HELD_BY_COMMAND.exec(line)?.[1] ?? []);

test('there are promises to check', () => {
  expect(rows.length).toBeGreaterThan(50);
});

test('each row names the test or the command that holds it', () => {
  const unread = lines.filter((line) => !HELD_BY_TEST.test(line) && !HELD_BY_COMMAND.test(line));
  expect(unread).toEqual([]);
});

test.each(rows)('%s has the test "%s"', (file, name) => {
  const source = path.join(ROOT, file);
  expect(existsSync(source)).toBe(true);
  expect(readFileSync(source, 'utf8')).toContain(`'${name}'`);
});

test.each(commands)('there is make %s', (target) => {
  expect(MAKEFILE).toMatch(new RegExp(`^${target}:`, 'm'));
});
