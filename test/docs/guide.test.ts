import { readFileSync } from 'node:fs';
import path from 'node:path';
import { compileFunction } from 'node:vm';

import { ALL_FATES, atFirstAttempts, HostileNetwork } from '../support/hostile-network';
import type { TestService } from '../support/service';
import { startService } from '../support/program';

const ROOT = path.resolve(__dirname, '../..');
const GUIDE = readFileSync(path.join(ROOT, 'docs/guide.md'), 'utf8');
const BLOCKS = [...GUIDE.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code = '']) => code);
/** The comment of a line is its expected output. */
const PRINTED = /console\.log\(.*\); \/\/ (.*)$/gm;
const EXPECTED = [...BLOCKS.join('').matchAll(PRINTED)].map((match) => match[1]);

const EXAMPLE = ['api.js', 'client.js', 'due.js', 'store.js']
  .map((file) => readFileSync(path.join(ROOT, 'examples/offline-client', file), 'utf8'))
  .join('\n');

/** Code without types and indentation. */
function plain(code: string): string {
  return code
    .replace(/^ *\/\*\*(?:(?!\*\/)[^])*\*\/\n/gm, '')
    .replace(/\/\*\* @type \{[^*]*\} \*\/ /g, '')
    .replace(/^\s+/gm, '');
}

let service: TestService;
beforeAll(async () => {
  service = await startService({});
});
afterAll(() => service.close());

/** Runs the blocks of the guide in order; returns what they print, and values of some names. */
async function run(url: string, token: string, names: readonly string[] = []) {
  const printed: string[] = [];
  const console = { log: (...values: unknown[]) => printed.push(values.join(' ')) };
  // Nobody waits.
  const soon = (work: () => void) => setImmediate(work);
  const parameters = ['url', 'token', 'console', 'setTimeout'];
  const program = `return (async () => {${BLOCKS.join('\n')}\nreturn { ${names.join()} };})();`;
  // The compiled function is asynchronous and has these parameters.
  const compiled = compileFunction(program, parameters) as (
    ...given: unknown[]
  ) => Promise<Record<string, unknown>>;
  return { values: await compiled(url, token, console, soon), printed };
}

test('the code of the guide is that of the example', () => {
  const example = plain(EXAMPLE);
  const others = BLOCKS.filter((code) =>
    code.split(/\n\n(?=\S)/).some((part) => !example.includes(plain(part))),
  );
  // The others show how to use it.
  expect(others.filter((code) => !code.includes('console.log('))).toEqual([]);
  expect(BLOCKS.length - others.length).toBeGreaterThan(8);
});

test('the code runs in order, and prints what its comments say', async () => {
  expect(EXPECTED.length).toBeGreaterThan(10);
  const { token } = await service.user();
  const { printed } = await run(service.url, token);
  expect(printed).toEqual(EXPECTED);
});

test.each(ALL_FATES)('it prints the same if each first attempt meets this: %s', async (fate) => {
  const network = await HostileNetwork.before(service.url);
  const { token } = await service.user();
  const meet = atFirstAttempts(fate);
  let met = 0;
  network.onRequest = (request) => {
    const { method, url = '', headers } = request;
    // The page sends some requests only once.
    const isRead = method === 'GET' && !url.startsWith('/api/care');
    const isTagged = headers['idempotency-key'] ?? headers['if-match'];
    if (!isRead && isTagged === undefined) return undefined;
    met += 1;
    return meet(request);
  };
  const { printed } = await run(network.url, token);
  await network.close();
  expect(printed).toEqual(EXPECTED);
  expect(met).toBeGreaterThan(20);
});

test('a token that is revoked stops the queue, and loses nothing of it', async () => {
  const user = await service.user();
  const { values } = await run(service.url, user.token, ['enqueue', 'flush', 'queue', 'keychain']);
  // As the guide defines them.
  const { enqueue, flush, queue } = values as {
    enqueue: (method: string, path: string, body: object) => string;
    flush: () => Promise<void>;
    queue: unknown[];
  };
  const answer = await user.get('/api/account/tokens').expect(200);
  const { items } = answer.body as { items: { id: string }[] };
  for (const { id } of items) await user.delete(`/api/account/tokens/${id}`);
  for (const name of ['Fern', 'Moss', 'Palm']) enqueue('POST', '/api/plants', { name });
  await expect(flush()).rejects.toThrow('no longer valid');
  expect(queue).toHaveLength(3);
});
