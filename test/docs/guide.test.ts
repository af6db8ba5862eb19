import { readFileSync } from 'node:fs';
import path from 'node:path';
import { compileFunction } from 'node:vm';

import type { TestService } from '../support/service';
import { startService } from '../support/program';

const GUIDE = readFileSync(path.resolve(__dirname, '../../docs/guide.md'), 'utf8');
const SNIPPET = /^```js\n([^]*?)^```$/gm;
/** The comment of a line is its expected output. */
const PRINTED = /console\.log\(.*\); \/\/ (.*)$/gm;

let service: TestService;

beforeAll(async () => {
  service = await startService({});
});
afterAll(() => service.close());

test('the snippets of the guide run in order, and print what their comments say', async () => {
  const program = [...GUIDE.matchAll(SNIPPET)].map((match) => match[1]).join('\n');
  const expected = [...program.matchAll(PRINTED)].map((match) => match[1]);
  expect(expected.length).toBeGreaterThan(10);
  const { token } = await service.user();
  const printed: string[] = [];
  const console = { log: (...values: unknown[]) => printed.push(values.join(' ')) };
  // The compiled function is asynchronous and has these parameters.
  const run = compileFunction(`return (async () => {${program}})();`, [
    'url',
    'token',
    'console',
  ]) as (...given: unknown[]) => Promise<void>;
  await run(service.url, token, console);
  expect(printed).toEqual(expected);
});
