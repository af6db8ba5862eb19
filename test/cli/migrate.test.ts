import { rm } from 'node:fs/promises';

import { mongo } from 'mongoose';

import { Client } from '../support/client';
import { Copy, listed } from '../support/copy';
import { freshDatabase } from '../support/databases';
import { differencesOf } from '../support/differences';
import { insightsOf, water } from '../support/insights';
import { eventually } from '../support/processes';
import { dataDirectory, RealServer } from '../support/real-server';
import { startService, type TestService, type TestUser, userOf } from '../support/service';
import { CommandLine, resultOf } from './run';

const TRACKED = ['plants', 'events', 'photos'];
const ALL = [
  ...['plants/0001-revisions', 'photos/0001-revisions', 'events/0001-revisions'],
  ...['events/0002-last-fertilized', 'insights/0001-totals'],
];
/** What plants did not have before it was known when they are due to be cared for. */
const SINCE_CARE = { lastFertilized: '', wateringSnoozedUntil: '', fertilizerSnoozedUntil: '' };

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

/** Data as versions wrote it that knew neither migrations nor revisions. */
async function oldData(fill: (user: TestUser, service: TestService) => Promise<void>) {
  const service = await startService({ mongodbUri: uri });
  const user = await service.user();
  await fill(user, service);
  await service.close();
  const db = client.db();
  for (const name of ['migrations', 'leases', 'deletions']) await db.dropCollection(name);
  await db.collection('plants').updateMany({}, { $unset: SINCE_CARE });
  for (const name of TRACKED) {
    const collection = db.collection(name);
    await collection.updateMany({}, { $unset: { revision: '' } });
    for (const { name: index } of await collection.indexes()) {
      if (index?.includes('revision')) await collection.dropIndex(index);
    }
  }
  return user;
}

async function aGarden(user: TestUser): Promise<void> {
  const plant = await user.plant();
  await user.photo({ plantId: plant.id });
  for (let count = 0; count < 3; count += 1) await user.event(plant.id);
}

describe('a database that a command has made', () => {
  beforeAll(async () => {
    openDatabase();
    await cli.json('user', 'list');
  });
  afterEach(async () => {
    const added = { _id: { $nin: ALL } };
    await client.db().collection<{ _id: string }>('migrations').deleteMany(added);
  });
  afterAll(dropDatabase);

  test('an empty database starts at the newest version, with nothing to migrate', async () => {
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
          stderr: `The data was written by a newer version of the program, which knows the migration ${id}: start that version.\n`,
        });
      }
    },
  );

  test('what a plugin that was taken away has migrated is no newer version', async () => {
    const migrations = client.db().collection<{ _id: string; finishedAt: Date }>('migrations');
    await migrations.insertOne({ _id: 'removed/0001-first', finishedAt: new Date() });
    expect(await cli.json('user', 'list')).toEqual([]);
  });

  test('an index that is not declared any more is dropped, and one made otherwise is made anew', async () => {
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

  test('data of an earlier version is refused by commands, and migrate up does what migrate status shows', async () => {
    await oldData(aGarden);
    const { code, stderr } = await cli.run('user', 'list');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The data was written by an earlier version: .*`migrate up`.*\n$/);
    const status = await cli.run('migrate', 'status', '--json');
    expect(status.code).toBe(1);
    expect(JSON.parse(status.stdout)).toMatchObject({ applied: [], pending: ALL });
    const dry = resultOf(await cli.run('migrate', 'up', '--dry-run', '--json'));
    expect(dry).toMatchObject({ migrations: ALL, dryRun: true });
    expect((await cli.run('migrate', 'status')).code).toBe(1);
    const up = await cli.run('migrate', 'up', '--json');
    expect(up.code).toBe(0);
    expect(up.stderr).toMatch(/^Migration plants\/0001-revisions is done$/m);
    expect(up.stderr).toMatch(/^Making the index on userId, revision, _id of events$/m);
    expect(JSON.parse(up.stdout)).toMatchObject({ migrations: ALL, dryRun: false });
    expect(await cli.json('migrate', 'up')).toEqual({ migrations: [], indexes: [], dryRun: false });
    expect(await cli.text('migrate', 'status')).toMatch(/Nothing is missing\.$/m);
  });

  test('a migration that was killed goes on at the next start, of two servers at once', async () => {
    const user = await oldData(async (someone, service) => {
      await aGarden(someone);
      const events = service.app.database.connection
        .getClient()
        .db(service.app.database.connection.name);
      const [event] = await events.collection('events').find().limit(1).toArray();
      const copies = Array.from({ length: 15_000 }, () => ({
        ...event,
        _id: new mongo.UUID(),
        deletedAt: new Date(),
      }));
      await events.collection('events').insertMany(copies as never[]);
    });
    const env = { MONGODB_URI: uri, REDIS_URL: process.env['TEST_REDIS_URL'] };
    const folders = [await dataDirectory(), await dataDirectory()];
    const [one = '', other = ''] = folders;
    const killed = RealServer.spawn(one, env);
    const migrations = client.db().collection<{ _id: string; position?: unknown }>('migrations');
    await eventually(async () => {
      const migration = await migrations.findOne({ _id: 'events/0001-revisions' });
      return migration?.position instanceof mongo.Binary;
    });
    await killed.kill();
    expect(await client.db().collection('events').countDocuments({ revision: 0 })).toBeGreaterThan(
      0,
    );
    const servers = await Promise.all([RealServer.start(one, env), RealServer.start(other, env)]);
    const said = servers.map(({ stderr }) => stderr).join('');
    expect(said).toMatch(/^Migration events\/0001-revisions goes on$/m);
    expect(said).toMatch(/waiting for it/);
    expect(said.match(/events\/0001-revisions is done/g)).toHaveLength(1);
    for (const name of TRACKED) {
      const left = { revision: { $exists: false } };
      expect(await client.db().collection(name).countDocuments(left)).toBe(0);
    }
    const phone = new Client(servers[0].url, user.token);
    const copy = new Copy();
    await copy.sync(phone, () => 2);
    expect(copy.events.size).toBe(3);
    expect(copy.contents).toEqual(await listed(phone, [...copy.photos.keys()]));
    phone.close();
    for (const server of servers) expect(await server.stop()).toBe(0);
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  test('plants of an earlier version get to know when they were last fertilized', async () => {
    const day = (number: number) => `2026-03-0${number}T12:00:00.000Z`;
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
    });
    expect((await cli.run('migrate', 'up')).code).toBe(0);
    const service = await startService({ mongodbUri: uri });
    const again = userOf(service.url, user.id, user.token);
    const body: unknown = (await again.get('/api/care').expect(200)).body;
    expect(body).toMatchObject({
      items: [{ lastDone: day(2), dueOn: '2026-03-11' }, { lastDone: null }],
    });
    expect(await differencesOf(service.app, user.id)).toEqual([]);
    await service.close();
  });

  test.each([
    ['with the runs of waterings', 2],
    ['with some of them', 1],
    ['without', 0],
  ])('days that an earlier version has counted are summed up, %s', async (_, left) => {
    let before: unknown;
    const user = await oldData(async (someone, service) => {
      const days = ['2020-01-02', '2020-01-03', '2021-07-09'];
      await water(someone, (await someone.plant()).id, days);
      before = await insightsOf(someone);
      await service.user();
    });
    const db = client.db();
    await db.collection('careTotals').insertOne({ userId: user.id, events: 3 });
    await db.collection('careMonths').deleteMany({ month: 'all' });
    const runs = db.collection('wateringRuns');
    for (let count = 2; count > left; count -= 1) await runs.deleteOne({ userId: user.id });
    if (left === 0) await runs.drop();
    expect((await cli.run('migrate', 'up')).code).toBe(0);
    expect(await db.listCollections({ name: 'careTotals' }).toArray()).toEqual([]);
    const service = await startService({ mongodbUri: uri });
    expect(await insightsOf(userOf(service.url, user.id, user.token))).toEqual(before);
    expect(await differencesOf(service.app, user.id)).toEqual([]);
    await service.close();
  });
});
