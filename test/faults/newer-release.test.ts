import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { mongo } from 'mongoose';
import pino from 'pino';

import { descriptionOf } from '../../src/fields/description';
import { callTool } from '../mcp/support';
import { record } from '../support/client';
import { scrape, valueOf } from '../support/metrics';
import { NO_LIMITS } from '../support/no-limits';
import { temporaryFolder } from '../servers/support';
import { until } from '../support/processes';
import { expectError } from '../support/shapes';
import {
  accountsPlugin,
  App,
  freshDatabase,
  LATER_MIGRATION,
  laterPlugins,
  startProgram,
  startService,
  type TestService,
  type TestUser,
} from '../support/program';

let uri: string;
let client: mongo.MongoClient;
let service: TestService;
let user: TestUser;

beforeEach(async () => {
  uri = freshDatabase();
  client = new mongo.MongoClient(uri);
  service = await startService({ mongodbUri: uri });
  user = await service.user();
});
afterEach(async () => {
  await service.close();
  await client.db().dropDatabase();
  await client.close();
});

function portOf(http: Server): number {
  // It listens on a port of the machine.
  return (http.address() as AddressInfo).port;
}

/** Records a migration as a newer release does when it begins one. */
async function begin(fields: object = {}): Promise<void> {
  const migrations = client.db().collection<{ _id: string }>('migrations');
  await migrations.insertOne({ _id: 'plants/9999-later', ...fields });
}

test('a server stops writing once a newer release migrates its data, and reports it', async () => {
  const { id } = await user.plant();
  await begin();
  for (const write of [
    () => user.post('/api/plants', { name: 'Moss' }),
    () => user.patch(`/api/plants/${id}`, { name: 'Moss' }),
    () => user.delete(`/api/plants/${id}`),
    () => user.patch('/api/account', { timezone: 'Europe/Paris' }),
  ]) {
    const refused = await write().expect(503);
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    expect(refused.body).toMatchObject({ code: 'service_unavailable' });
  }
  const { tokens } = service.app.exportsOf(accountsPlugin);
  const wanted = { userId: 'new', scopes: [], name: 'phone', expiresInSeconds: 3600 };
  await expect(tokens.createToken(wanted)).rejects.toMatchObject({ status: 503 });
  expect((await user.get('/api/plants').expect(200)).body).toMatchObject([
    { id, name: 'Boston fern' },
  ]);
  const unready = await service.anonymous.get('/readyz').expect(503);
  expect(record(unready.body)['error']).toMatch(
    /^A newer release has migrated the data \(plants\/9999-later\)/,
  );
  await service.anonymous.get('/healthz').expect(200);
  const said = service.logged.filter((line) => line.includes('This server no longer writes'));
  expect(said).toHaveLength(1);
  expect(valueOf(await scrape(service.url), 'plantcare_data_newer')).toBe(1);
});

test('a cursor that cannot be read is 400, and 503 once the data is newer, in every list', async () => {
  const { id } = await user.plant();
  const backend = await service.user({ scopes: ['accounts:manage'] });
  const webhook = { url: 'https://hooks.example.com/', events: ['plant.created'] };
  const made = await backend.post('/api/webhooks', webhook).expect(201);
  const hook = String(record(made.body)['id']);
  const lists = service.app.operations.flatMap(({ method, path, access, query }) => {
    const names = [...(query ? descriptionOf(query).keys.keys() : [])];
    const name = names.find((each) => each === 'cursor' || each === 'since');
    if (method !== 'GET' || name === undefined) return [];
    const isOfBackend = 'scope' in access && access.scope === 'accounts:manage';
    const [caller, parent] = isOfBackend ? [backend, hook] : [user, id];
    return [{ caller, path: `${path.replace('{id}', parent)}?${name}=AAAA` }];
  });
  const me = { url: service.url, token: user.token, user };
  const search = () => callTool(me, 'search_events', { cursor: 'AAAA' });
  expect(lists.length).toBeGreaterThan(4);
  for (const { caller, path } of lists) expectError(await caller.get(path), 400, 'invalid_cursor');
  expect((await search()).content[0]?.text).toMatch(/^invalid_cursor/);
  await begin();
  for (const { caller, path } of lists) {
    const answer = await caller.get(path);
    expectError(answer, 503, 'service_unavailable');
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  }
  expect((await search()).content[0]?.text).toMatch(/^service_unavailable/);
  await user.get('/api/events').expect(200);
});

test('it no longer prunes the audit log either', async () => {
  const entries = client.db().collection('auditEntries');
  const before = await entries.countDocuments();
  expect(before).toBeGreaterThan(0);
  await begin();
  await expect(service.app.audit.prune(-1)).rejects.toMatchObject({ cause: { status: 503 } });
  expect(await entries.countDocuments()).toBe(before);
});

test('probes are enough to notice it', async () => {
  await service.anonymous.get('/readyz').expect(200);
  expect(valueOf(await scrape(service.url), 'plantcare_data_newer')).toBe(0);
  await begin({ finishedAt: new Date() });
  await service.anonymous.get('/readyz').expect(503);
  expect(valueOf(await scrape(service.url), 'plantcare_data_newer')).toBe(1);
});

test('a server keeps writing during a migration that allows it', async () => {
  await begin({ besideOlder: true });
  await user.plant();
  await service.anonymous.get('/readyz').expect(200);
});

/** The environment of a server with a data directory of its own. */
async function serverEnv() {
  return {
    ...NO_LIMITS,
    MONGODB_URI: uri,
    REDIS_URL: process.env['TEST_REDIS_URL'],
    DATA_DIR: await temporaryFolder(),
    LOG_LEVEL: 'silent',
  };
}

test('a server that is stopped during a migration lets the next ones continue at once', async () => {
  const { id } = await user.plant();
  for (let nth = 0; nth < 7; nth += 1) await user.event(id);
  const plugins = laterPlugins();
  const optionsOf = async () => {
    return { role: 'server', env: await serverEnv(), plugins } as const;
  };
  const events = client.db().collection('events');
  const stopping = new AbortController();
  const stop = (line: string): void => {
    if (line.endsWith(' begins')) stopping.abort();
  };
  const stopped = startProgram({
    ...(await optionsOf()),
    progress: stop,
    stopping: stopping.signal,
  });
  await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
  expect(await events.countDocuments({ isSeen: true })).toBe(3);
  expect(await client.db().collection('leases').countDocuments()).toBe(0);
  const lines: string[] = [];
  const progress = (line: string) => lines.push(line);
  const next = await Promise.all(
    [await optionsOf(), await optionsOf()].map((options) => startProgram({ ...options, progress })),
  );
  for (const each of next) await each.stop();
  expect(lines.filter((line) => line.endsWith(' resumes'))).toHaveLength(1);
  expect(lines.filter((line) => line.endsWith(' is done'))).toHaveLength(1);
  expect(await events.countDocuments({ isSeen: true })).toBe(7);
});

test('a server that is migrating responds to probes, and reports its progress', async () => {
  const { id } = await user.plant();
  await user.event(id);
  const env = await serverEnv();
  const http = createServer();
  const answers = async () => {
    const paths = ['/healthz', '/readyz', '/api/plants', '/docs'];
    const found = await Promise.all(
      paths.map((path) => fetch(`http://127.0.0.1:${portOf(http)}${path}`)),
    );
    return {
      statuses: found.map(({ status }) => status),
      waits: found.slice(1).map(({ headers }) => headers.get('Retry-After') ?? ''),
      readiness: (await found[1]?.text()) ?? '',
    };
  };
  let during: Awaited<ReturnType<typeof answers>> | undefined;
  const program = await startProgram({
    role: 'server',
    env,
    plugins: laterPlugins(async () => {
      during = await answers();
    }),
    onConnected: async ({ app }) => {
      const listener = app.requestListener();
      http.on('request', (request, response) => void listener(request, response));
      await once(http.listen(0, '127.0.0.1'), 'listening');
    },
  });
  expect(during?.statuses).toEqual([200, 503, 503, 503]);
  for (const wait of during?.waits ?? []) expect(wait).toMatch(/^\d+$/);
  expect(during?.readiness).toContain(
    `The data is being migrated to this release. Migration ${LATER_MIGRATION} (1 of 1)`,
  );
  expect((await answers()).statuses.slice(0, 2)).toEqual([200, 200]);
  http.close();
  http.closeAllConnections();
  await program.stop();
});

test('all writes that were acknowledged before are migrated, even with concurrent writers', async () => {
  const acknowledged: string[] = [];
  let refused = 0;
  const writers = Array.from({ length: 4 }, async () => {
    const writer = await service.user();
    const plant = await writer.plant();
    for (;;) {
      const answer = await writer.post(`/api/plants/${plant.id}/events`, { type: 'watered' });
      if (answer.status !== 201) break;
      acknowledged.push(String(record(answer.body)['id']));
    }
    refused += 1;
  });
  await until(() => acknowledged.length > 20);
  const later = new App({
    plugins: laterPlugins(),
    env: NO_LIMITS,
    log: pino({ level: 'silent' }),
  });
  await later.connect({ mongodbUri: uri });
  await Promise.all(writers);
  await later.close();
  expect(refused).toBe(4);
  const events = client.db().collection<{ _id: mongo.UUID; isSeen?: boolean }>('events');
  const seen = await events.find({ isSeen: true }).toArray();
  expect(seen.map(({ _id }) => String(_id)).sort()).toEqual(acknowledged.sort());
});
