import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import type { Operation } from '../../src/plugins/operation';
import { until } from '../support/processes';
import type { Ids } from '../support/operations';
import { type BinaryAnswer, keptConnections, send } from '../support/raw';
import type { TestService, TestUser } from '../support/service';
import { NOBODYS_ID } from '../support/shapes';
import {
  isConditional,
  Garden,
  storeLargest,
  idOfEveryKind,
  operationRows,
  pathOf,
  validRequest,
  startService,
} from '../support/program';

let service: TestService;
let user: TestUser;
let ids: Ids;
let owner: TestUser;
let garden: Garden;

beforeAll(async () => {
  service = await startService({ jobs: false });
  owner = await service.user();
  garden = new Garden(owner);
});
beforeEach(async () => {
  user = owner;
  ids = await garden.ids();
});
afterAll(() => service.close());

function ask(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: object,
): Promise<BinaryAnswer> {
  return send(service.url, method, path, {
    headers: {
      Authorization: `Bearer ${user.token}`,
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...headers,
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    agent: keptConnections,
  });
}

/** A tag with the suffixes of compressing proxies. */
function changedByProxies(etag: string): string[] {
  const suffixes = ['-gzip', '-br', '-zstd', '-df', ';gzip', ';br', '/gzip', '--gzip', '-gzip-br'];
  const inside = suffixes.map((suffix) => `${etag.slice(0, -1)}${suffix}"`);
  return [...inside, ...inside.map((each) => `W/${each}`), `${etag}-gzip`];
}

const rows = operationRows();
const reads = rows.filter(([, operation]) => isConditional(operation));

test.each(reads)('%s gets 304 if the client has the current response', async (_name, operation) => {
  const { path } = validRequest(operation, ids);
  const first = await ask('GET', path);
  const etag = first.headers.etag ?? '';
  expect(first.status).toBe(200);
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  expect(first.headers['cache-control']).toBe('private, no-cache');
  expect(first.headers.vary).toMatch(/\bAuthorization\b.*\bAccept-Encoding\b/);
  // As browsers and Node's fetch send it.
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await ask('GET', path, { 'If-None-Match': known, 'Cache-Control': 'no-cache' });
    expect([again.status, again.body, again.headers.etag]).toEqual([304, '', etag]);
    expect(again.headers['cache-control']).toBe('private, no-cache');
    expect(again.headers).not.toHaveProperty('content-type');
  }
  const head = await ask('HEAD', path, { 'If-None-Match': etag });
  expect([head.status, head.headers.etag]).toEqual([304, etag]);
  for (const unknown of ['"other"', 'W/*', '"a, *, b"', `"${etag.slice(1, -1)}gzip"`]) {
    const other = await ask('GET', path, { 'If-None-Match': unknown });
    expect([other.status, other.body]).toEqual([200, first.body]);
  }
});

test('If-None-Match matches tags with the suffixes of compressing proxies', async () => {
  const etag = (await ask('GET', '/api/plants')).headers.etag ?? '';
  for (const known of changedByProxies(etag)) {
    const again = await ask('GET', '/api/plants', { 'If-None-Match': known });
    expect([again.status, again.headers.etag]).toEqual([304, etag]);
  }
});

test('only a write that changes the response ends its 304', async () => {
  const path = `/api/plants/${ids['plant'] ?? ''}`;
  const before = (await ask('GET', path)).headers.etag ?? '';
  await user.plant();
  expect((await ask('GET', path, { 'If-None-Match': before })).status).toBe(304);
  await user.patch(path, { name: 'Another' }).expect(200);
  const after = await ask('GET', path, { 'If-None-Match': before });
  expect(after.status).toBe(200);
  expect(after.body).toContain('Another');
});

test('only a list that is too long to buffer loses its 304 with any write', async () => {
  user = await service.user();
  await storeLargest(service.app, user.id, { plants: 100, events: 1 });
  const first = await ask('GET', '/api/plants');
  expect(first.bytes.length).toBeGreaterThan(1_000_000);
  const known = { 'If-None-Match': first.headers.etag ?? '' };
  const again = await ask('GET', '/api/plants', known);
  expect([again.status, again.headers.etag]).toEqual([304, first.headers.etag]);
  expect((await ask('GET', '/api/plants?location=Nowhere', known)).status).toBe(200);
  await user.plant();
  expect((await ask('GET', '/api/plants', known)).status).toBe(200);
  const compressed = await ask('GET', '/api/plants', { 'Accept-Encoding': 'gzip' });
  expect(compressed.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(compressed.bytes).toString()).toBe((await ask('GET', '/api/plants')).body);
});

const DECODE = { br: brotliDecompressSync, gzip: gunzipSync };

test.each(['br', 'gzip'] as const)(
  'a list is sent as %s if the client accepts it',
  async (coding) => {
    await Promise.all(Array.from({ length: 5 }, () => user.plant()));
    const plain = await ask('GET', '/api/plants');
    expect(plain.headers).not.toHaveProperty('content-encoding');
    for (let time = 0; time < 2; time += 1) {
      const answer = await ask('GET', '/api/plants', { 'Accept-Encoding': coding });
      expect(answer.headers['content-encoding']).toBe(coding);
      expect(answer.headers['content-length']).toBe(String(answer.bytes.length));
      expect(answer.headers.etag).toBe(`W/${plain.headers.etag ?? ''}`);
      expect(DECODE[coding](answer.bytes).equals(plain.bytes)).toBe(true);
    }
    const short = await ask('GET', '/api/locations', { 'Accept-Encoding': coding });
    expect(short.headers).not.toHaveProperty('content-encoding');
  },
);

test('Accept-Encoding selects the content coding', async () => {
  await Promise.all(Array.from({ length: 5 }, () => user.plant()));
  const codings = {
    'gzip, deflate, br': 'br',
    GZIP: 'gzip',
    '*': 'br',
    'br;q=0, *': 'gzip',
    'br;q=0.1, gzip;q=1': 'gzip',
    'gzip;q=0.5, identity;q=1': undefined,
    'gzip;Q=0': undefined,
    'br;q=0': undefined,
    deflate: undefined,
    '': undefined,
  };
  for (const [accepted, coding] of Object.entries(codings)) {
    const answer = await ask('GET', '/api/plants', { 'Accept-Encoding': accepted });
    expect([accepted, answer.headers['content-encoding']]).toEqual([accepted, coding]);
  }
});

test('a long list that the client does not read leaves no cursor open', async () => {
  user = await service.user();
  await storeLargest(service.app, user.id, { plants: 100, events: 1 });
  const open = async (): Promise<number> => {
    const { db } = service.app.database.connection;
    const status = (await db?.admin().serverStatus()) as {
      metrics: { cursor: { open: { total: number } } };
    };
    return status.metrics.cursor.open.total;
  };
  const before = await open();
  const heads = Array.from({ length: 20 }, () => ask('HEAD', '/api/plants'));
  for (const { status } of await Promise.all(heads)) expect(status).toBe(200);
  // Other tests use the same MongoDB.
  await until(async () => (await open()) < before + 10);
});

test('a long response to a write is compressed, and so is a long error', async () => {
  const accept = { 'Accept-Encoding': 'br, gzip' };
  const body = { name: 'Fern', notes: 'n'.repeat(1000), careNotes: 'c'.repeat(1000) };
  const made = await ask('POST', '/api/plants', accept, body);
  expect([made.status, made.headers['content-encoding']]).toEqual([201, 'br']);
  expect(JSON.parse(brotliDecompressSync(made.bytes).toString())).toMatchObject(body);
  const unknown = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, 1]));
  const refused = await ask('POST', '/api/plants', accept, unknown);
  expect([refused.status, refused.headers['content-encoding']]).toEqual([400, 'br']);
  const short = await ask('POST', '/api/plants', accept, {});
  expect([short.status, short.headers['content-encoding']]).toEqual([400, undefined]);
});

const conditional = rows.filter(([, operation]) => operation.state !== undefined);

/** The record that an operation with an id in its path returns, with its ETag. */
async function etagOf(operation: Operation): Promise<string> {
  const isRead = rows.some(([, { method, path }]) => method === 'GET' && path === operation.path);
  if (isRead) return (await ask('GET', pathOf(operation, ids))).headers.etag ?? '';
  const [, change] =
    rows.find(([, { method, path }]) => method === 'PATCH' && path === operation.path) ?? [];
  const { path, body } = validRequest(change ?? operation, ids);
  return (await ask('PATCH', path, {}, body)).headers.etag ?? '';
}

test.each(conditional)(
  '%s changes nothing if If-Match does not match, and succeeds if it does',
  async (_name, operation) => {
    const { method, path, body } = validRequest(operation, ids);
    const etag = await etagOf(operation);
    const before = await ask('GET', '/api/plants');
    const others = ['"other"', '""', 'W/"other", "another"', 'nonsense', '"a, *, b"', '"A-gzip"'];
    for (const other of others) {
      const refused = await ask(method, path, { 'If-Match': other }, body);
      expect(refused.status).toBe(412);
      expect(JSON.parse(refused.body)).toMatchObject({ code: 'precondition_failed' });
    }
    expect((await ask('GET', '/api/plants')).body).toBe(before.body);
    expect(await etagOf(operation)).toBe(etag);
    const missing = validRequest(operation, idOfEveryKind(NOBODYS_ID));
    expect((await ask(method, missing.path, { 'If-Match': etag }, body)).status).toBe(404);
    const done = await ask(method, path, { 'If-Match': `W/${etag}` }, body);
    garden.called(operation);
    expect(done.status).toBe(200);
  },
);

test('If-Match matches tags with the suffixes of compressing proxies', async () => {
  const path = `/api/plants/${ids['plant'] ?? ''}`;
  const etag = (await ask('GET', path)).headers.etag ?? '';
  for (const changed of changedByProxies(etag)) {
    // It changes nothing, so the ETag stays.
    expect((await ask('PATCH', path, { 'If-Match': changed }, {})).status).toBe(200);
  }
});

test('a change returns the ETag for the next change', async () => {
  const plant = await ask('POST', '/api/plants', {}, { name: 'Fern' });
  const { id } = JSON.parse(plant.body) as { id: string };
  let etag = plant.headers.etag ?? '';
  for (const name of ['Oak', 'Ivy', 'Elm']) {
    const answer = await ask('PATCH', `/api/plants/${id}`, { 'If-Match': etag }, { name });
    expect(answer.status).toBe(200);
    etag = answer.headers.etag ?? '';
    expect((await ask('GET', `/api/plants/${id}`)).headers.etag).toBe(etag);
  }
});

test('of many concurrent changes with the same If-Match, exactly one succeeds', async () => {
  const path = `/api/plants/${ids['plant'] ?? ''}`;
  const etag = (await ask('GET', path)).headers.etag ?? '';
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      ask('PATCH', path, { 'If-Match': etag }, { name: `Name ${index}` }),
    ),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 412)]);
});

test('the tests cover operations that take If-Match', () => {
  expect(conditional.length).toBeGreaterThanOrEqual(5);
});
