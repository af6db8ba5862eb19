import { rm } from 'node:fs/promises';

import { mongo } from 'mongoose';

import { Client, record, records } from '../support/client';
import { Copy, listed } from '../support/copy';
import { insightsOf, water } from '../support/insights';
import { aGarden, oldData as oldDataIn, TRACKED } from '../support/old-data';
import { freePort, until } from '../support/processes';
import type { TestService, TestUser } from '../support/service';
import { CommandLine, resultOf } from './run';
import {
  startProgram,
  freshDatabase,
  differencesOf,
  dataDirectory,
  RealServer,
  startService,
  userOf,
  TcpProxy,
} from '../support/program';

/** How many documents get a revision at once. */
const CHUNK = 5000;
const ALL = [
  'oauth/0001-assertions',
  'photos/0001-revisions',
  'plants/0001-revisions',
  'plants/0002-snoozes',
  'events/0001-revisions',
  'events/0002-last-fertilized',
  'events/0003-photos-of-plants',
  'events/0004-event-days',
  'events/0005-last-care-days',
  'insights/0001-totals',
  'insights/0002-growth-days',
  'insights/0003-computed-runs',
];

let uri: string;
let client: mongo.MongoClient;
let cli: CommandLine;

function openDatabase(): void {
  uri = freshDatabase();
  client = new mongo.MongoClient(uri);
  cli = new CommandLine(uri);
}

async function dropDatabase(): Promise<void> {
  await client.db().dropDatabase();
  await client.close();
}

function oldData(fill: (user: TestUser, service: TestService) => Promise<void>) {
  return oldDataIn({ db: client.db(), uri }, fill);
}

/** Waters a plant in two streaks; returns the user's insights. */
async function insightsOfWatered(user: TestUser): Promise<unknown> {
  await water(user, (await user.plant()).id, ['2020-01-02', '2020-01-03', '2021-07-09']);
  return insightsOf(user);
}

/** Removes the totals of days, which an earlier version did not store. */
async function forgetTotals(...users: TestUser[]): Promise<void> {
  const totals = users.map(({ id }) => ({ userId: id, events: 3 }));
  await client.db().collection('careTotals').insertMany(totals);
  await client.db().collection('careMonths').deleteMany({ month: 'all' });
}

async function expectSummedUp(service: TestService, { id, token }: TestUser, before: unknown) {
  const dropped = { name: { $in: ['careTotals', 'wateringRuns'] } };
  expect(await client.db().listCollections(dropped).toArray()).toEqual([]);
  expect(await insightsOf(userOf(service.url, id, token))).toEqual(before);
  expect(await differencesOf(service.app, id)).toEqual([]);
}

describe('a database that a command has created', () => {
  beforeAll(async () => {
    openDatabase();
    await cli.json('migrate', 'up');
  });
  afterEach(async () => {
    const added = { _id: { $nin: ALL } };
    await client.db().collection<{ _id: string }>('migrations').deleteMany(added);
  });
  afterAll(dropDatabase);

  test('an empty database starts at the newest version, without migrations', async () => {
    const status = resultOf(await cli.run('migrate', 'status', '--json'));
    expect(status).toMatchObject({ pending: [], indexes: [], isUpToDate: true });
    const dates = { finishedAt: expect.any(String) as string };
    const applied = [...ALL].sort().map((migration) => ({ migration, ...dates }));
    expect(status).toMatchObject({ applied });
  });

  test.each(['plants/9999-later', 'docs/0001-first'])(
    'data that knows the migration %s of a newer version is refused in one sentence',
    async (id) => {
      const migrations = client.db().collection<{ _id: string; finishedAt: Date }>('migrations');
      await migrations.insertOne({ _id: id, finishedAt: new Date() });
      for (const args of [
        ['user', 'list'],
        ['migrate', 'status'],
        ['migrate', 'up'],
      ]) {
        const { code, stderr } = await cli.run(...args);
        expect({ args, code, stderr }).toEqual({
          args,
          code: 1,
          stderr: `A newer release has migrated the data (${id}): use that release.\n`,
        });
      }
    },
  );

  test('migrations of a removed plugin do not count as a newer release', async () => {
    const migrations = client.db().collection<{ _id: string; finishedAt: Date }>('migrations');
    await migrations.insertOne({ _id: 'removed/0001-first', finishedAt: new Date() });
    expect(await cli.json('user', 'list')).toEqual([]);
  });

  test('commands ignore an extra index, as a server of 1.0.0 leaves', async () => {
    await client
      .db()
      .collection('events')
      .createIndexes([{ key: { userId: 1, plantId: 1, type: 1 } }]);
    expect(await cli.json('user', 'list')).toEqual([]);
    expect((await cli.run('migrate', 'status')).code).toBe(1);
    expect((await cli.run('migrate', 'up')).code).toBe(0);
  });

  test('collections that a cluster sharded in advance keep the index on their shard key', async () => {
    const plants = client.db().collection('plants');
    await plants.createIndex({ userId: 1 }, {}, {});
    expect((await cli.run('migrate', 'up')).code).toBe(0);
    expect((await plants.indexes()).map(({ name }) => name)).toContain('userId_1');
    expect((await cli.run('migrate', 'status')).code).toBe(0);
  });

  test('an index that is no longer declared is dropped, and one with other options is recreated', async () => {
    const events = client.db().collection('events');
    await events.createIndex({ userId: 1, text: 1 }, {}, {});
    await events.dropIndex('userId_1');
    await events.createIndex({ userId: 1 }, { unique: true, sparse: true }, {});
    const before = await cli.run('migrate', 'status', '--json');
    expect(JSON.parse(before.stdout)).toMatchObject({
      indexes: [
        { collection: 'events', missing: ['userId'], obsolete: ['userId_1_text_1', 'userId_1'] },
      ],
    });
    expect((await cli.run('migrate', 'up')).code).toBe(0);
    const indexes = await events.indexes();
    expect(indexes.map(({ name }) => name)).not.toContain('userId_1_text_1');
    expect(indexes.find(({ name }) => name === 'userId_1')).not.toHaveProperty('unique');
    expect((await cli.run('migrate', 'status')).code).toBe(0);
  });
});

describe('data of an earlier version', () => {
  beforeEach(openDatabase);
  afterEach(dropDatabase);

  test('commands refuse data of an earlier release, and migrate up does what migrate status shows', async () => {
    await oldData(aGarden);
    const { code, stderr } = await cli.run('user', 'list');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The data is from an earlier release: .*`migrate up`.*\n$/);
    const status = await cli.run('migrate', 'status', '--json');
    expect(status.code).toBe(1);
    expect(JSON.parse(status.stdout)).toMatchObject({ applied: [], pending: ALL });
    const dry = resultOf(await cli.run('migrate', 'up', '--dry-run', '--json'));
    expect(dry).toMatchObject({ migrations: ALL, dryRun: true });
    expect((await cli.run('migrate', 'status')).code).toBe(1);
    const up = await cli.run('migrate', 'up', '--json');
    expect(up.code).toBe(0);
    expect(up.stderr).toMatch(/^Migration photos\/0001-revisions \(2 of \d+\) is done$/m);
    expect(up.stderr).toMatch(/^Creating the index on userId, revision, _id of events$/m);
    expect(JSON.parse(up.stdout)).toMatchObject({ migrations: ALL, dryRun: false });
    expect(await cli.json('migrate', 'up')).toEqual({ migrations: [], indexes: [], dryRun: false });
    expect(await cli.text('migrate', 'status')).toMatch(/Nothing is missing\.$/m);
  });

  test('a killed migration resumes when two servers start at the same time', async () => {
    const user = await oldData(async (someone, service) => {
      await aGarden(someone);
      const events = service.app.database.connection
        .getClient()
        .db(service.app.database.connection.name);
      const [event] = await events.collection('events').find().limit(1).toArray();
      const copies = Array.from({ length: CHUNK + 500 }, () => ({
        ...event,
        _id: new mongo.UUID(),
        deletedAt: new Date(),
      }));
      await events.collection('events').insertMany(copies as never[]);
    });
    const env = { MONGODB_URI: uri, REDIS_URL: process.env['TEST_REDIS_URL'] };
    const folders = [await dataDirectory(), await dataDirectory()];
    const [one = ''] = folders;
    const { proxy, uri: proxied } = await TcpProxy.before(uri);
    let chunks = 0;
    proxy.onCommand(({ name, collection }) => {
      if (name === 'update' && collection === 'events') chunks += 1;
      return chunks > 1 ? 'requests lost' : undefined;
    });
    const killed = RealServer.spawn(one, { ...env, MONGODB_URI: proxied });
    await until(() => chunks > 1);
    await killed.kill();
    await proxy.close();
    const migrations = client.db().collection<{ _id: string; position?: unknown }>('migrations');
    const migration = await migrations.findOne({ _id: 'events/0001-revisions' });
    expect(migration?.position).toBeInstanceOf(mongo.Binary);
    expect(await client.db().collection('events').countDocuments({ revision: 0 })).toBe(CHUNK);
    const lines: string[] = [];
    const servers = await Promise.all(
      folders.map((DATA_DIR) =>
        startProgram({
          role: 'server',
          env: { ...env, DATA_DIR },
          progress: (line) => lines.push(line),
        }),
      ),
    );
    const said = lines.join('\n');
    expect(said).toMatch(/^Migration events\/0001-revisions \(1 of \d+\) resumes$/m);
    expect(said).toMatch(/waiting for it/);
    expect(said.match(/events\/0001-revisions .* is done/g)).toHaveLength(1);
    for (const name of TRACKED) {
      const left = { revision: { $exists: false } };
      expect(await client.db().collection(name).countDocuments(left)).toBe(0);
    }
    for (const server of servers) await server.stop();
    const service = await startService({ mongodbUri: uri });
    const phone = new Client(service.url, user.token);
    const copy = new Copy();
    await copy.sync(phone, () => 2);
    expect(copy.events.size).toBe(3);
    expect(copy.contents).toEqual(await listed(phone, [...copy.photos.keys()]));
    phone.close();
    await service.close();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  test('plants of an earlier version get their last fertilizing, and its day counts are summed', async () => {
    const day = (number: number) => `2026-03-0${number}T12:00:00.000Z`;
    const watered: { user: TestUser; before: unknown }[] = [];
    const user = await oldData(async (someone, service) => {
      const add = (fertilizerFrequencyDays?: number) => someone.plant({ fertilizerFrequencyDays });
      const [fed, other] = [await add(9), await add(9)];
      await add();
      const log = (id: string, type: string, number: number) =>
        someone.event(id, { type, occurredAt: day(number) });
      await log(fed.id, 'fertilized', 2);
      await log(fed.id, 'fertilized', 1);
      await log(fed.id, 'watered', 4);
      const deleted = await log(fed.id, 'fertilized', 3);
      await someone.delete(`/api/events/${deleted.id}`).expect(200);
      await log(other.id, 'watered', 1);
      const another = await service.user();
      await another.event((await another.plant()).id, { type: 'fertilized' });
      for (const each of [await service.user(), await service.user()]) {
        watered.push({ user: each, before: await insightsOfWatered(each) });
      }
    });
    await forgetTotals(user, ...watered.map((each) => each.user));
    expect((await cli.run('migrate', 'up')).code).toBe(0);
    const service = await startService({ mongodbUri: uri });
    const again = userOf(service.url, user.id, user.token);
    const body: unknown = (await again.get('/api/care').expect(200)).body;
    expect(body).toMatchObject({
      items: [{ lastDone: day(2), dueOn: '2026-03-11' }, { lastDone: null }],
    });
    expect(await differencesOf(service.app, user.id)).toEqual([]);
    for (const { user: each, before } of watered) await expectSummedUp(service, each, before);
    await service.close();
  });

  test('events of an earlier version get their days once, in the current time zone of their account', async () => {
    const zones = ['Pacific/Kiritimati', 'America/St_Johns', 'Pacific/Pago_Pago', 'UTC'];
    const users: { user: TestUser; before: unknown }[] = [];
    /** Everything that shows days, including all insights. */
    const shown = async (user: TestUser) => {
      const care = record((await user.get('/api/care?dueBy=9999-12-31').expect(200)).body);
      return [
        await insightsOf(user, 'from=0000-01-01&to=9999-12-31'),
        records(care['items']).map(({ type, lastDone, dueOn }) => ({ type, lastDone, dueOn })),
      ];
    };
    await oldData(async (_someone, service) => {
      for (const timezone of zones) {
        const user = await service.user({ timezone });
        const { id } = await user.plant({ wateringFrequencyDays: 7, fertilizerFrequencyDays: 30 });
        const noons = ['0000-01-01T03:00:00Z', '0999-12-31T23:00:00Z', '1969-12-31T10:30:00Z'];
        await water(user, id, [...noons, '2026-02-28T02:30:00Z', '2026-03-01T11:00:00Z']);
        await user.event(id, { type: 'fertilized', occurredAt: '2026-03-01T10:00:00Z' });
        for (const occurredAt of ['2026-03-01T03:00:00Z', '2026-03-02T13:00:00Z']) {
          await user.event(id, { type: 'growth', growthAmount: 1, occurredAt });
        }
        const gone = await user.event(id, { occurredAt: '2026-03-02T11:00:00Z' });
        await user.delete(`/api/events/${gone.id}`).expect(200);
        users.push({ user, before: await shown(user) });
      }
    });
    const migrations = client.db().collection<{ _id: string }>('migrations');
    expect((await cli.run('migrate', 'up')).code).toBe(0);
    // As after a crash before the last position was saved; documents that were changed by then stay as they are.
    const service = await startService({ mongodbUri: uri });
    for (const { user } of users) {
      const again = userOf(service.url, user.id, user.token);
      await again.patch('/api/account', { timezone: 'Asia/Kathmandu' }).expect(200);
    }
    await migrations.deleteMany({ _id: /days$/ });
    expect((await cli.run('migrate', 'up')).code).toBe(0);
    for (const { user, before } of users) {
      const again = userOf(service.url, user.id, user.token);
      expect(await shown(again)).toEqual(before);
      expect(await differencesOf(service.app, user.id)).toEqual([]);
      const deleted = { userId: user.id, deletedAt: { $ne: null } };
      const [gone] = await client.db().collection('events').find(deleted).toArray();
      expect(gone?.['occurredOn']).toMatch(/^2026-03-0[123]$/);
    }
    const untouched = { firstAt: { $exists: true } };
    expect(await client.db().collection('growth').countDocuments(untouched)).toBe(0);
    await service.close();
  });

  test('an account in a time zone that is unknown does not stop the migration of others', async () => {
    const user = await oldData(aGarden);
    const unknown = { $set: { timezone: 'No/Zone' } };
    await client.db().collection<{ _id: string }>('accounts').updateOne({ _id: user.id }, unknown);
    expect(await cli.run('migrate', 'up')).toMatchObject({ code: 0 });
    expect(await client.db().collection('events').countDocuments({ occurredOn: null })).toBe(0);
  });

  test('streaks that an earlier version stored are dropped, and insights stay the same', async () => {
    let before: unknown;
    const user = await oldData(async (someone) => {
      before = await insightsOfWatered(someone);
    });
    await forgetTotals(user);
    const run = { userId: user.id, first: 18_263, last: 18_264, days: 2 };
    await client.db().collection('wateringRuns').insertOne(run);
    expect((await cli.run('migrate', 'up')).code).toBe(0);
    const service = await startService({ mongodbUri: uri });
    await expectSummedUp(service, user, before);
    await service.close();
  });

  test('a server that is migrating responds to probes, and reports its progress', async () => {
    await oldData(aGarden);
    const folder = await dataDirectory();
    const port = await freePort();
    const { proxy, uri: proxied } = await TcpProxy.before(uri);
    let isHeld = false;
    proxy.onCommand(({ name, collection }) => {
      if (name === 'update' && collection === 'events') isHeld = true;
      return isHeld ? 'delay' : undefined;
    });
    const env = { MONGODB_URI: proxied, REDIS_URL: process.env['TEST_REDIS_URL'] };
    const server = RealServer.spawn(folder, { ...env, PORT: String(port) });
    const answers: Record<string, unknown>[] = [];
    const get = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: answer.status, headers: answer.headers, body: await answer.text() };
    };
    while (!server.stdout.includes('ready at')) {
      const all = ['/readyz', '/healthz', '/api/plants', '/docs'].map(get);
      const [ready, live, api, docs] = await Promise.all(all).catch(() => []);
      if (ready?.status !== 503) continue;
      const retry = [ready, api, docs].map((each) => each?.headers.get('Retry-After') ?? '');
      answers.push({
        retry,
        said: ready.body,
        statuses: [live, api, docs].map((each) => each?.status),
      });
    }
    expect((await get('/readyz')).status).toBe(200);
    const held = 'events/0001-revisions';
    const migrating = answers.filter(({ said }) => String(said).includes(held));
    expect(migrating.length).toBeGreaterThan(0);
    for (const { retry, said, statuses } of migrating) {
      expect(said).toContain(
        `The data is being migrated to this release. Migration ${held} (${ALL.indexOf(held) + 1} of ${ALL.length})`,
      );
      expect(retry).toEqual(
        Array.from({ length: 3 }, () => expect.stringMatching(/^\d+$/) as string),
      );
      expect(statuses).toEqual([200, 503, 503]);
    }
    expect(await server.stop()).toBe(0);
    await proxy.close();
    await rm(folder, { recursive: true, force: true });
  });
});
