import { mongo } from 'mongoose';

import { CommandLine, resultOf } from './run';
import { freshDatabase, LATER_MIGRATION, laterPlugins, startService } from '../support/program';

const ALL = [
  'accounts/0001-personal-data',
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

  test('commands ignore an extra index, as a server of the previous release leaves', async () => {
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

test('empty collections that a cluster sharded in advance are no older data', async () => {
  openDatabase();
  await client.db().createCollection('plants');
  expect(await cli.run('backup', 'create')).toMatchObject({
    code: 1,
    stderr: 'The database is empty: there is nothing to archive.\n',
  });
  await cli.json('token', 'create', '--user', 'ada');
  expect(await cli.json('migrate', 'status')).toMatchObject({ pending: [], isUpToDate: true });
  await dropDatabase();
});

describe('data of the previous release', () => {
  beforeEach(openDatabase);
  afterEach(dropDatabase);

  test('commands refuse it, and migrate up does what migrate status shows', async () => {
    const service = await startService({ mongodbUri: uri });
    const user = await service.user();
    await user.event((await user.plant()).id);
    await service.close();
    await client.db().collection('events').dropIndex('userId_1');
    const later = new CommandLine(uri, {}, laterPlugins());
    const { code, stderr } = await later.run('user', 'list');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The data is from an earlier release: .*`migrate up`.*\n$/);
    const status = await later.run('migrate', 'status', '--json');
    expect(status.code).toBe(1);
    expect(JSON.parse(status.stdout)).toMatchObject({ pending: [LATER_MIGRATION] });
    const dry = resultOf(await later.run('migrate', 'up', '--dry-run', '--json'));
    expect(dry).toMatchObject({ migrations: [LATER_MIGRATION], dryRun: true });
    expect((await later.run('migrate', 'status')).code).toBe(1);
    const up = await later.run('migrate', 'up', '--json');
    expect(up.code).toBe(0);
    expect(up.stderr).toMatch(/^Migration changes\/0001-seen \(1 of 1\) is done$/m);
    expect(up.stderr).toMatch(/^Creating the index on userId of events$/m);
    expect(JSON.parse(up.stdout)).toMatchObject({ migrations: [LATER_MIGRATION], dryRun: false });
    const none = { migrations: [], indexes: [], dryRun: false };
    expect(await later.json('migrate', 'up')).toEqual(none);
    expect(await later.text('migrate', 'status')).toMatch(/Nothing is missing\.$/m);
  });
});
