import { randomUUID } from 'node:crypto';

import { collectionOf } from '../../src/data/model/models';
import { record, records } from '../support/client';
import { scrape, valueOf } from '../support/metrics';
import { until } from '../support/processes';
import type { TestService } from '../support/service';
import { CommandLine, start } from './run';
import {
  accountsPlugin,
  hostModels,
  newId,
  removeAll,
  gardenOf,
  pluginsUnderTest,
  startService,
  userOf,
  TcpProxy,
} from '../support/program';

let service: TestService;
let cli: CommandLine;

/** Each test uses other names, since responses to an earlier user of the same name stay cached for a while. */
let ada: string;
let bob: string;

beforeAll(async () => {
  service = await startService({ jobs: false });
  cli = new CommandLine(service.mongodbUri, {}, pluginsUnderTest());
});
beforeEach(() => {
  [ada, bob] = [`ada-${randomUUID()}`, `bob-${randomUUID()}`];
});
afterEach(async () => {
  const { connection } = service.app.database;
  await removeAll(connection.getClient().db(connection.name));
});
afterAll(() => service.close());

/** The collections of data that accounts own. */
const COLLECTIONS = [...hostModels, ...pluginsUnderTest().flatMap(({ models = [] }) => models)]
  .filter(({ owner }) => owner === 'account')
  .map(collectionOf)
  // Shared collections with documents of accounts, which are exported and deleted with the account.
  .concat('programs', 'sessions', 'waysToSignIn', 'webhooks', 'webhookDeliveries', 'calendars')
  .concat('email', 'members', 'memberships', 'reminders', 'deliveries');

/** Creates a user with a record of every kind, stored responses included. */
async function userWithEverything(id: string) {
  const user = await service.user({ id });
  const { delivery: _, ...ids } = await gardenOf(user);
  // They are sent even if the account ends.
  await service.app.database.connection.collection('webhookDeliveries').deleteMany({ userId: id });
  await user.post('/api/plants', { name: 'Fern' }).set('Idempotency-Key', 'key').expect(201);
  return { user, ids };
}

function accounts() {
  return service.app.exportsOf(accountsPlugin);
}

/** The collections that contain a text. */
async function collectionsWith(text: string): Promise<string[]> {
  const collections = (await service.app.database.connection.db?.collections()) ?? [];
  const found = collections.map(async (collection) => {
    const all = JSON.stringify(await collection.find().toArray());
    return all.includes(JSON.stringify(text)) ? collection.collectionName : [];
  });
  return (await Promise.all(found)).flat().sort();
}

test('user export prints everything stored about an account, by all plugins, without secrets', async () => {
  const { ids } = await userWithEverything(ada);
  const other = await userWithEverything(bob);
  const { code, stdout } = await cli.run('user', 'export', ada);
  expect(code).toBe(0);
  const all = record(JSON.parse(stdout));
  expect(Object.keys(all)).toEqual([
    'format',
    'version',
    'exportedAt',
    'account',
    'tokens',
    'records',
    'auditLog',
  ]);
  expect(all['account']).toMatchObject({
    id: ada,
    tier: 'pro',
    timezone: 'UTC',
    language: 'en',
    remindAt: '07:00',
  });
  expect(all['tokens']).toMatchObject([{ user: ada, name: 'test' }, { user: ada }, { user: ada }]);
  const exported = record(all['records']);
  expect(Object.keys(exported).sort()).toEqual(COLLECTIONS.toSorted());
  const stored = await collectionsWith(ada);
  expect(stored.filter((name) => COLLECTIONS.includes(name))).toEqual(
    Object.keys(exported)
      .filter((name) => records(exported[name]).length > 0)
      .sort(),
  );
  for (const id of Object.values(ids)) expect(stdout).toContain(id);
  expect(records(exported['plants'])).toHaveLength(2 + 1);
  expect(stdout).not.toContain('tnd_mcp_');
  for (const id of Object.values(other.ids)) expect(stdout).not.toContain(id);
  expect(records(all['auditLog']).map(({ action }) => action)).toEqual(
    expect.arrayContaining(['account.created', 'token.created', 'account.exported']),
  );
  const line = await cli.run('user', 'export', ada, '--json');
  expect(line.stdout).toMatch(/^\{[^\n]+\}\n$/);
});

test('user delete removes everything about an account except its audit entries, and nothing of others', async () => {
  const { user } = await userWithEverything(ada);
  const { user: other } = await userWithEverything(bob);
  const before = await cli.run('user', 'delete', bob, '--dry-run', '--json');
  const dry = record(await cli.json('user', 'delete', ada, '--dry-run'));
  expect(dry).toMatchObject({ user: ada, dryRun: true, records: { accounts: 1, tokens: 3 } });
  await user.get('/api/plants').expect(200);

  const done = record(await cli.json('user', 'delete', ada, '--confirm', ada));
  expect(done).toEqual({ user: ada, dryRun: false, records: dry['records'] });
  expect(await collectionsWith(ada)).toEqual([]);
  await user.get('/api/plants').expect(401);
  await user.post('/api/plants', { name: 'Fern' }).expect(401);
  await other.get('/api/plants').expect(200);
  const after = await cli.run('user', 'delete', bob, '--dry-run', '--json');
  expect(after.stdout).toBe(before.stdout);

  const log = records(await cli.json('audit', 'log', '--user', ada));
  expect(log.slice(-2)).toMatchObject([
    { action: 'account.deletion_begun', changes: { records: dry['records'] } },
    { action: 'account.deleted' },
  ]);
  expect(await cli.text('audit', 'verify')).toMatch(/no fault/);
});

test('audit entries of deleted accounts are pseudonymous, and separate from a later account of that name', async () => {
  const everything = () =>
    service.app.database.connection.collection('auditEntries').find().toArray();
  for (const round of [1, 2]) {
    const { user } = await userWithEverything(ada);
    await user.delete('/api/account').send({ confirm: ada });
    await cli.json('user', 'delete', ada, '--confirm', ada);
    expect(JSON.stringify(await everything())).not.toContain(ada);
    const actions = records(await cli.json('audit', 'log', '--user', ada)).map(
      ({ action }) => action,
    );
    expect(actions.filter((each) => each === 'account.deleted')).toHaveLength(round);
    expect(records(await cli.json('audit', 'log', '--actor', ada))).not.toEqual([]);
    expect(await cli.text('audit', 'verify')).toMatch(/no fault/);
  }
  await service.user({ id: ada });
  const { stdout } = await cli.run('user', 'export', ada);
  expect(stdout).not.toContain('account.deleted');
});

test('a long audit log is anonymized in several transactions, and verifies', async () => {
  await service.user({ id: ada });
  const act = { action: 'token.pruned', target: { type: 'account', id: ada } };
  for (let round = 0; round < 5; round += 1) {
    await service.app.audit.transact(async (tx) => {
      for (let count = 0; count < 500; count += 1) tx.audit(act, ada);
    });
  }
  await cli.json('user', 'delete', ada, '--confirm', ada);
  const entries = service.app.database.connection.collection('auditEntries');
  expect(JSON.stringify(await entries.find().toArray())).not.toContain(ada);
  expect(await entries.countDocuments({ action: 'token.pruned' })).toBe(2500);
  expect(await cli.text('audit', 'verify')).toMatch(/no fault/);
});

test.each([
  ['without --confirm', []],
  ['with another name', ['--confirm', 'bob']],
  ['with another name for a dry run', ['--confirm', 'bob', '--dry-run']],
])('user delete %s deletes nothing, and says which option is missing', async (_, options) => {
  await service.user({ id: ada });
  const { code, stdout, stderr } = await cli.run('user', 'delete', ada, ...options);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toBe(
    `To delete all data of ${ada}, add --confirm ${ada}; --dry-run shows how much that is.\n`,
  );
  expect(await cli.json('user', 'show', ada)).toMatchObject({ user: ada });
});

test('an account whose deletion was interrupted is locked, and the next deletion finishes it', async () => {
  const { user } = await userWithEverything(ada);
  await user.get('/api/plants').expect(200);
  let chunks = 0;
  const deletion = accounts().data.deleteUser(ada, () => {
    chunks += 1;
    if (chunks === 3) throw new Error('Cut off.');
  });
  await expect(deletion).rejects.toThrow('Cut off.');
  expect(await collectionsWith(ada)).toContain('plants');

  await user.get('/api/plants').expect(401);
  await expect(service.app.writeQueue.run(ada, async () => 1)).rejects.toThrow('being deleted');
  const create = await cli.run('token', 'create', '--user', ada);
  expect(create).toMatchObject({ code: 1, stdout: '' });
  expect(create.stderr).toMatch(/being deleted/);
  expect(await cli.text('reconcile', '--check')).toMatch(/^0 accounts checked/);

  await cli.json('user', 'delete', ada, '--confirm', ada);
  expect(await collectionsWith(ada)).toEqual([]);
});

test('jobs of a server do not fail on an account that is being deleted', async () => {
  const server = await startService({ mongodbUri: service.mongodbUri });
  await userWithEverything(ada);
  const cutOff = accounts().data.deleteUser(ada, () => {
    throw new Error('Cut off.');
  });
  await expect(cutOff).rejects.toThrow('Cut off.');
  const left = { _id: newId(), userId: ada, removedAt: new Date() };
  await service.app.database.connection.collection<typeof left>('removedPlants').insertOne(left);
  const begun = Date.now() / 1000;
  const job = { job_name: 'mark the events of deleted plants deleted' };
  await until(async () => {
    const metrics = await scrape(server.url);
    expect(valueOf(metrics, 'plantcare_job_failures_total', job)).toBe(0);
    const name = 'plantcare_job_last_success_timestamp_seconds';
    // A run in progress may have begun before the record existed.
    return (valueOf(metrics, name, job) ?? 0) > begun + 1;
  });
  await server.close();
});

test('a deletion whose process is killed is finished by the next', async () => {
  // Events are deleted a thousand at a time.
  await cli.json('demo', '--user', ada, '--tier', 'pro', '--plants', '10', '--events', '1500');
  const { proxy, uri } = await TcpProxy.before(service.mongodbUri);
  let deletions = 0;
  proxy.onCommand(({ name, collection }) => {
    if (name === 'delete' && collection === 'events') deletions += 1;
    return deletions > 1 ? 'requests lost' : undefined;
  });
  const env = { MONGODB_URI: uri, REDIS_URL: process.env['TEST_REDIS_URL'] };
  const deletion = start(['user', 'delete', ada, '--confirm', ada], env);
  await until(() => deletions > 1);
  deletion.process.kill('SIGKILL');
  await deletion.ended;
  await proxy.close();
  const events = service.app.database.connection.collection('events');
  expect(await events.countDocuments({ userId: ada })).toBe(500);
  await cli.json('user', 'delete', ada, '--confirm', ada);
  expect(await collectionsWith(ada)).toEqual([]);
  expect(await cli.text('audit', 'log', '--user', ada)).toMatch(/account\.deleted .*\n$/);
});

test('writes during the deletion of an account leave nothing behind', async () => {
  const users = await Promise.all(Array.from({ length: 4 }, () => service.user({ id: ada })));
  let isOver = false;
  const writers = users.map(async (user) => {
    const statuses = new Set<number>();
    while (!isOver) statuses.add((await user.post('/api/plants', { name: 'Fern' })).status);
    return statuses;
  });
  await accounts().data.deleteUser(ada, () => undefined);
  isOver = true;
  for (const statuses of await Promise.all(writers)) {
    expect([...statuses].filter((status) => ![201, 401].includes(status))).toEqual([]);
  }
  expect(await collectionsWith(ada)).toEqual([]);
});

test('a user who reuses a deleted name gets an empty account, for which old tokens are invalid', async () => {
  const second = await startService({ mongodbUri: service.mongodbUri });
  try {
    const { user } = await userWithEverything(ada);
    const elsewhere = userOf(second.url, ada, user.token);
    expect((await elsewhere.get('/api/plants').expect(200)).body).toHaveLength(3);
    await cli.json('user', 'delete', ada, '--confirm', ada);
    const back = await service.user({ id: ada });
    await user.get('/api/plants').expect(401);
    await elsewhere.get('/api/plants').expect(401);
    const there = userOf(second.url, ada, back.token);
    for (const each of [back, there]) {
      expect((await each.get('/api/plants').expect(200)).body).toEqual([]);
    }
  } finally {
    await second.close();
  }
});

test('users whose names 1.0.0 allowed, but this release does not, can be exported and deleted', async () => {
  const name = `ada-${randomUUID()}\u200b`;
  await service.user({ id: name });
  await cli.json('user', 'set', name, '--tier', 'pro');
  const exported = record(await cli.json('user', 'export', name));
  expect(exported['account']).toMatchObject({ id: name, tier: 'pro' });
  const shown = name.replace('\u200b', '<U+200B>');
  expect(await cli.text('user', 'list')).toContain(shown);
  await cli.json('user', 'delete', name, '--confirm', name);
  const ended = await cli.run('user', 'show', name);
  expect(ended).toMatchObject({ code: 1 });
  expect(ended.stderr).toContain(`There is no user ${shown}.`);
});

test('exporting or deleting an unknown user fails', async () => {
  for (const args of [['export'], ['delete', '--confirm', 'nobody'], ['delete', '--dry-run']]) {
    const [command = '', ...options] = args;
    const ended = await cli.run('user', command, 'nobody', ...options);
    expect(ended).toEqual({ code: 1, stdout: '', stderr: 'There is no user nobody.\n' });
  }
});
