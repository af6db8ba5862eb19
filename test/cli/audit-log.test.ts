import { hostname, userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import type { mongo } from 'mongoose';

import { DAY_MS } from '../../src/core/time';
import { record, records } from '../support/client';
import { resetClock, setClock } from '../support/clock';
import { until } from '../support/processes';
import type { TestService } from '../support/service';
import { CommandLine } from './run';
import {
  acquireServers,
  removeAll,
  asOperatorOf,
  dataDirectory,
  RealServer,
  removeDataDirectory,
  startService,
  TcpProxy,
} from '../support/program';

let service: TestService;
let cli: CommandLine;

beforeAll(async () => {
  service = await startService({ jobs: false });
  cli = new CommandLine(service.mongodbUri);
});

afterEach(async () => {
  resetClock();
  const { connection } = service.app.database;
  await removeAll(connection.getClient().db(connection.name));
});

afterAll(() => service.close());

function log(...options: string[]): Promise<Record<string, unknown>[]> {
  return cli.json('audit', 'log', ...options).then(records);
}

function entries(): mongo.Collection {
  // Mongoose's collection forwards each method to the driver's.
  return service.app.database.connection.collection('auditEntries');
}

function heads(): mongo.Collection<{ _id: string }> {
  // As above.
  return service.app.database.connection.collection('auditHeads') as unknown as mongo.Collection<{
    _id: string;
  }>;
}

/** The faults that `audit verify` finds. */
async function faults(): Promise<string[]> {
  const found = await service.app.audit.verify();
  return found.faults.map(({ chain, fault }) => `${chain}: ${fault}`);
}

/** Creates the account ada, with an entry for itself and one for each of its tokens. */
async function adaWithTokens(count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await service.user({ id: 'ada' });
}

const ADA = { chain: 'account/ada' };

test('the audit log has the time, actor, request and changes of each action', async () => {
  await cli.json('user', 'list', '--as', 'grace');
  const made = record(
    await cli.json('token', 'create', '--user', 'ada', '--scopes', 'plants:read'),
  );
  await cli.json('user', 'set', 'ada', '--tier', 'pro', '--as', 'grace');
  await cli.json('token', 'revoke', String(made['id']));

  const operator = { type: 'operator', name: userInfo().username, host: hostname() };
  const token = { type: 'token', id: made['id'] };
  const account = { type: 'account', id: 'ada' };
  const none = { address: null, requestId: null };
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
  expect(await log()).toEqual([
    {
      time,
      action: 'account.created',
      actor: operator,
      ...none,
      target: account,
      changes: { tier: 'free', timezone: 'UTC' },
    },
    {
      time,
      action: 'token.created',
      actor: operator,
      ...none,
      target: token,
      changes: { scopes: ['plants:read'], expiresAt: made['expiresAt'] },
    },
    {
      time,
      action: 'account.changed',
      actor: { ...operator, name: 'grace' },
      ...none,
      target: account,
      changes: { tier: { from: 'free', to: 'pro' } },
    },
    { time, action: 'token.revoked', actor: operator, ...none, target: token, changes: {} },
  ]);
});

test("actions of a token are recorded with its id, the client's address and the request id", async () => {
  const user = await service.user({ id: 'ada' });
  const plant = await user.plant();
  const actor = { type: 'token', account: 'ada', token: expect.any(String) as string };
  const by = { actor, address: expect.stringContaining('127.0.0.1') as string };
  await user.delete(`/api/plants/${plant.id}`).set('X-Request-Id', 'req-1').expect(200);
  expect(await log('--action', 'plant')).toMatchObject([
    { action: 'plant.deleted', ...by, requestId: 'req-1', target: { type: 'plant', id: plant.id } },
  ]);
  await until(async () => (await log('--action', 'token.first_used')).length === 1);
  expect(await log('--action', 'token.first_used')).toMatchObject([by]);
  const [created] = await log('--action', 'token.created');
  const token = record(created?.['target'])['id'];
  expect(await log('--actor', String(token))).toHaveLength(2);
});

test('the log is filtered by user, actor, action and time', async () => {
  await cli.json('token', 'create', '--user', 'ada', '--as', 'grace');
  await cli.json('token', 'create', '--user', 'bob', '--as', 'linus');
  expect(await log('--user', 'ada')).toHaveLength(2);
  expect(await log('--actor', 'linus')).toMatchObject([
    { target: { id: 'bob' } },
    { action: 'token.created' },
  ]);
  expect(await log('--actor', 'linus', '--action', 'account.created')).toHaveLength(1);
  expect(await log('--action', 'tok')).toEqual([]);
  expect(await log('--since', '1h')).toHaveLength(4);
  expect(await log('--since', '2999-01-01')).toEqual([]);
  expect(await cli.text('audit', 'log', '--user', 'bob')).toMatch(
    /^TIME .*\n\S+Z {2}account\.created +linus on .+ {2}account bob {2}\{"tier":"free".*\n\S+Z {2}token\.created .*\n$/,
  );
  const wrong = await cli.run('audit', 'log', '--since', 'yesterday');
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toMatch(/2026-03-01.*24h/);
});

test('seeds and repairs are recorded', async () => {
  await cli.json('seed');
  const months = service.app.database.connection.collection('careMonths');
  const all = { userId: 'demo', month: 'all' };
  await months.updateOne(all, { $set: { 'days.0.watered': 1_000_000 } });
  await cli.json('reconcile', '--repair');
  expect(await log('--action', 'seeds')).toMatchObject([{ changes: { garden: 8 } }]);
  expect(await log('--action', 'account.reconciled')).toMatchObject([
    { changes: { 'day counts': 1 } },
  ]);
});

test('the start of a server is recorded with its version and settings, and without passwords', async () => {
  const dataDir = await dataDirectory();
  try {
    const env = {
      MONGODB_URI: service.mongodbUri,
      AUDIT_KEEP_DAYS: '30',
      REDIS_URL: 'redis://user:sesame@127.0.0.1:1',
    };
    const server = await RealServer.start(dataDir, env);
    await server.stop();
    expect(await log('--action', 'server')).toMatchObject([
      {
        actor: { type: 'server', host: hostname() },
        target: { type: 'server', id: server.url },
        changes: {
          version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
          settings: { AUDIT_KEEP_DAYS: 30, REDIS_URL: 'redis://user:***@127.0.0.1:1' },
        },
      },
    ]);
    expect(JSON.stringify(await entries().find().toArray())).not.toContain('sesame');
  } finally {
    await removeDataDirectory(dataDir);
  }
});

test('the log contains no tokens, hashes or user data', async () => {
  const user = await service.user({ id: 'ada' });
  const plant = await user.plant({ name: 'Secret fern', notes: 'Secret notes' });
  await user.delete(`/api/plants/${plant.id}`).expect(200);
  const stored = JSON.stringify(await entries().find().toArray());
  expect(stored).toContain(plant.id);
  for (const secret of ['tnd_mcp_', 'Secret', '"token":"tnd']) expect(stored).not.toContain(secret);
});

test('a write that is rolled back leaves no entry', async () => {
  const user = await service.user({ id: 'ada' });
  const before = await entries().countDocuments({ action: { $ne: 'token.first_used' } });
  const act = { action: 'plant.deleted', target: { type: 'plant', id: '1' } };
  const work = service.app.writeQueue.run(user.id, async (tx) => {
    tx.audit(act);
    throw new Error('No.');
  });
  await expect(work).rejects.toThrow('No.');
  await service.app.writeQueue.dryRun(user.id, async (tx) => {
    tx.audit(act);
  });
  expect(await entries().countDocuments({ action: { $ne: 'token.first_used' } })).toBe(before);
  expect(await faults()).toEqual([]);
});

test('concurrent actions, in one process and in two, are all recorded in one intact chain', async () => {
  const second = await startService({ mongodbUri: service.mongodbUri, jobs: false });
  try {
    const user = await service.user({ id: 'ada' });
    const other = await second.user({ id: 'ada' });
    const plants = await Promise.all(Array.from({ length: 40 }, () => user.plant()));
    await Promise.all([
      ...plants.map(({ id }, index) =>
        (index % 2 === 0 ? user : other).delete(`/api/plants/${id}`).expect(200),
      ),
      ...['new-1', 'new-2', 'new-1', 'new-2'].map((id) => service.user({ id })),
      ...['new-1', 'new-2'].map((id) => second.user({ id })),
    ]);
    expect(await log('--action', 'plant.deleted')).toHaveLength(40);
    expect(await log('--action', 'account.created')).toHaveLength(3);
    expect(await faults()).toEqual([]);
  } finally {
    await second.close();
  }
});

test('callers whose writes share a transaction are each recorded with their own actions', async () => {
  const callers = await Promise.all(Array.from({ length: 4 }, () => service.user({ id: 'ada' })));
  const [first] = callers;
  if (!first) throw new Error('There is no caller.');
  const plants = await Promise.all(Array.from({ length: 20 }, () => first.plant()));
  await Promise.all(
    plants.map(({ id }, index) =>
      (callers[index % 4] ?? first)
        .delete(`/api/plants/${id}`)
        .set('X-Request-Id', `r${index}-${id}`)
        .expect(200),
    ),
  );
  const deletions = await log('--action', 'plant.deleted');
  const tokens = new Map<string, Set<unknown>>();
  for (const { requestId, target, actor } of deletions) {
    const [, number = '', id] = /^r(\d+)-(.*)$/.exec(String(requestId)) ?? [];
    expect(record(target)['id']).toBe(id);
    const caller = String(Number(number) % 4);
    tokens.set(caller, (tokens.get(caller) ?? new Set()).add(record(actor)['token']));
  }
  expect([...tokens.values()].map((ids) => ids.size)).toEqual([1, 1, 1, 1]);
  expect(new Set([...tokens.values()].flatMap((ids) => [...ids])).size).toBe(4);
});

describe('audit verify finds', () => {
  beforeEach(() => adaWithTokens(6));

  test('nothing in an intact log', async () => {
    expect(await faults()).toEqual([]);
    expect(await cli.text('audit', 'verify')).toBe('1 chain with 7 entries checked: no faults.\n');
  });

  test('an entry that was altered', async () => {
    await entries().updateOne({ ...ADA, seq: 3 }, { $set: { 'actor.host': 'elsewhere' } });
    expect(await faults()).toEqual(['account/ada: entry 3 was altered']);
    const { code, stdout } = await cli.run('audit', 'verify');
    expect(code).toBe(1);
    expect(stdout).toBe(
      'CHAIN        FAULT\naccount ada  entry 3 was altered\n1 chain with 7 entries checked: 1 fault.\n',
    );
  });

  test('an entry in which any field was altered', async () => {
    const fields = ['time', 'action', 'target', 'changes', 'requestId', 'address', 'added'];
    for (const [index, field] of fields.entries()) {
      await entries().updateOne({ ...ADA, seq: index + 1 }, { $set: { [field]: new Date(0) } });
    }
    expect(await faults()).toEqual(
      fields.map((_, index) => `account/ada: entry ${index + 1} was altered`),
    );
  });

  test('an entry that was altered together with its hash', async () => {
    const hash = '0'.repeat(64);
    await entries().updateOne({ ...ADA, seq: 3 }, { $set: { hash } });
    expect(await faults()).toEqual([
      'account/ada: entry 3 was altered',
      'account/ada: entry 4 does not follow the one before it: one of them was altered',
    ]);
  });

  test('entries that were removed', async () => {
    await entries().deleteMany({ ...ADA, seq: { $in: [2, 4, 5] } });
    expect(await faults()).toEqual([
      'account/ada: entry 2 was removed',
      'account/ada: entries 4 to 5 were removed',
    ]);
  });

  test('the removal of the newest entry', async () => {
    await entries().deleteOne({ ...ADA, seq: 7 });
    expect(await faults()).toEqual(['account/ada: entry 7 was removed, at the end']);
  });

  test('the removal of all entries', async () => {
    await entries().deleteMany(ADA);
    expect(await faults()).toEqual(['account/ada: entries 1 to 7 were removed, at the end']);
  });

  test('an entry that was inserted between others or at the end', async () => {
    const found = (await entries().findOne({ ...ADA, seq: 3 })) ?? {};
    const copy = contentOf(found);
    await entries().insertOne({ ...copy, seq: 3.5 });
    expect(await faults()).toEqual(['account/ada: entry 3.5 was inserted']);
    await entries().deleteOne({ seq: 3.5 });
    await entries().insertOne({ ...copy, seq: 8 });
    expect(await faults()).toEqual([
      'account/ada: entry 8 was altered',
      'account/ada: entry 8 was inserted, at the end',
    ]);
  });

  test('entries whose chain was set to none', async () => {
    for (const [seq, chain] of [
      [2, 7],
      [4, null],
      [6, ''],
    ] as const) {
      await entries().updateOne({ ...ADA, seq }, { $set: { chain } });
    }
    expect(await faults()).toEqual([
      ...[2, 4, 6].map((seq) => `account/ada: entry ${seq} was removed`),
      'service: entries of no chain were inserted, or altered (3)',
    ]);
  });

  test('a head that was removed or set back', async () => {
    const head = await heads().findOne({ _id: 'account/ada' });
    await heads().deleteOne({ _id: 'account/ada' });
    expect(await faults()).toEqual(['account/ada: its head was removed']);
    await heads().insertOne({ ...head, seq: 6 } as { _id: string });
    expect(await faults()).toEqual(['account/ada: entry 7 was inserted, at the end']);
  });
});

test('the removal of the oldest entries is found even if it is disguised as pruning', async () => {
  await adaWithTokens(3);
  const oldest = await entries().findOne({ ...ADA, seq: 2 });
  const { seq, hash, time } = record(oldest);
  await entries().deleteMany({ ...ADA, seq: { $lte: 2 } });
  const fault = 'account/ada: the record of its pruned entries was altered';
  for (const pruned of [
    { seq, hash },
    { seq, hash, count: 2, until: time },
    { seq, hash, count: 1, until: new Date(Date.now() - 500 * DAY_MS) },
  ]) {
    await heads().updateOne({ _id: 'account/ada' }, { $set: { pruned } });
    expect(await faults()).toEqual([fault]);
  }
});

function contentOf(document: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(document).filter(([name]) => name !== '_id'));
}

test('entries older than AUDIT_KEEP_DAYS are deleted, the rest verifies, and the log continues', async () => {
  const now = Date.now();
  setClock(now - 500 * DAY_MS);
  await adaWithTokens(3);
  await service.user({ id: 'bob', expiresInSeconds: 60 });
  setClock(now - 399 * DAY_MS);
  await adaWithTokens(2);
  resetClock();
  await service.app.audit.prune(400);
  expect(await log('--user', 'ada')).toHaveLength(2);
  expect(await log('--user', 'bob')).toEqual([]);
  expect(await faults()).toEqual([]);
  expect(record(await cli.json('audit', 'verify'))).toMatchObject({ entries: 2, pruned: 6 });
  const head = await heads().findOne({ _id: 'account/ada' });
  expect(head).toMatchObject({
    pruned: { count: 4, seq: 4, until: new Date(now - 500 * DAY_MS) },
  });
  await cli.json('token', 'create', '--user', 'bob');
  await service.app.audit.prune(400);
  expect(await faults()).toEqual([]);
  await entries().deleteOne({ ...ADA, seq: 5 });
  expect(await faults()).toEqual(['account/ada: entry 5 was removed']);
});

test('old entries that do not verify are not deleted', async () => {
  setClock(Date.now() - 500 * DAY_MS);
  await adaWithTokens(3);
  resetClock();
  await entries().updateOne({ ...ADA, seq: 2 }, { $set: { address: '192.0.2.1' } });
  await service.app.audit.prune(400);
  expect(await faults()).toEqual(['account/ada: entry 2 was altered']);
});

test('a long chain is verified while actions are recorded', async () => {
  const dataDir = await dataDirectory();
  const servers = await acquireServers({ dataDir }, { role: 'server' });
  const { proxy, uri } = await TcpProxy.before(servers.mongodbUri);
  try {
    await asOperatorOf(uri, async ({ audit, database }) => {
      const act = { action: 'plant.deleted', target: { type: 'plant', id: 'x' }, changes: {} };
      const recorded = { time: new Date(), act, acting: audit.self };
      const append = (count: number) =>
        database.transaction((session) =>
          audit.append(
            session,
            new Map([['account/ada', Array.from({ length: count }, () => recorded)]]),
          ),
        );
      // More than the first batch; the others come late, however often they are requested.
      await append(1100);
      let isHeld = false;
      proxy.onCommand(({ name }) => {
        if (name !== 'getMore') return undefined;
        // Once it is released, it passes here again.
        isHeld = !isHeld;
        if (!isHeld) return undefined;
        setTimeout(() => {
          proxy.fail('delay', { onlyOpen: true });
        }, 2500);
        return 'requests lost';
      });
      // MongoDB ends longer transactions.
      const client = database.connection.getClient();
      const briefly = { setParameter: 1, transactionLifetimeLimitSeconds: 1 };
      await client.db('admin').command(briefly);
      const session = client.startSession();
      session.startTransaction();
      const heads = client.db(database.connection.name).collection('auditHeads');
      await heads.findOne({}, { session });
      const verified = audit.verify();
      const ended = new AbortController();
      const end = (): void => {
        ended.abort();
      };
      verified.then(end, end);
      while (!ended.signal.aborted) {
        await append(1);
        await sleep(200);
      }
      const { entries: count, faults: found } = await verified;
      expect(found).toEqual([]);
      expect(count).toBeGreaterThan(150);
      await expect(heads.findOne({}, { session })).rejects.toThrow('aborted');
      await session.endSession();
    });
  } finally {
    await proxy.close();
    await servers.release();
    await removeDataDirectory(dataDir);
  }
});

test('audit export prints every entry with its hash, and the ends of the chains', async () => {
  await adaWithTokens(2);
  const lines = (await cli.text('audit', 'export')).trimEnd().split('\n');
  const all = lines.map((line) => record(JSON.parse(line)));
  expect(all).toHaveLength(4);
  expect(all[0]).toMatchObject({ chain: 'account/ada', seq: 1, previousHash: '' });
  expect(all.at(-1)).toEqual({
    chain: 'account/ada',
    seq: 3,
    hash: all[2]?.['hash'],
    pruned: null,
  });
  expect(await cli.json('audit', 'export')).toEqual({
    entries: all.slice(0, 3),
    chains: all.slice(3),
  });
});
