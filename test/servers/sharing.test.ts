import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { mongo } from 'mongoose';
import type { Servers } from '../../src/servers';
import {
  acquire,
  connect,
  dataDirectory,
  until,
  isAlive,
  launch,
  plantsOf,
  processOf,
  program,
} from './support';
import { acquireServers, ServersError } from '../../src/servers';
import { redisResponds } from '../../src/servers/redis';

test('a fresh data directory gets a MongoDB with transactions and a Redis, which release stops', async () => {
  const dataDir = await dataDirectory();
  const meanwhile = jest.fn();
  const servers = await acquire(dataDir, 'server', [], meanwhile);
  expect(meanwhile).toHaveBeenCalledTimes(1);

  const client = connect(servers.mongodbUri);
  await client.withSession(async (session) =>
    session.withTransaction(async () => {
      await client.db().collection('plants').insertOne({ name: 'Basil' }, { session });
    }),
  );
  expect(await client.db().collection('plants').countDocuments()).toBe(1);
  expect(client.db().databaseName).toBe('plantcare');
  expect(servers.mongodbUri).toContain('directConnection=true');
  expect(await redisResponds(servers.redisUrl ?? '')).toBe(true);
  expect(servers.notes).toEqual([
    expect.stringMatching(/^MongoDB [\d.]+ \(.+\) was started\.$/),
    expect.stringMatching(/^Redis [\d.]+ \(.+\) was started\.$/),
  ]);

  const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
  for (const pid of all) {
    // In a process group of their own, so that Ctrl-C reaches only the program.
    const [group] =
      (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ').slice(2) ?? [];
    expect(Number(group)).toBe(pid);
  }
  await servers.release();
  await servers.release();
  await until(() => !all.some(isAlive));
  expect(await readdir(path.join(dataDir, 'leases'))).toEqual([]);
});

describe('servers that run', () => {
  let home: string;
  let dataDir: string;
  let servers: Servers;

  beforeAll(async () => {
    home = await mkdtemp(path.join(tmpdir(), 'servers-test-'));
    dataDir = path.join(home, 'data');
    servers = await acquireServers({ dataDir }, { role: 'server' });
  });
  afterAll(async () => {
    await servers.release();
    await rm(home, { recursive: true });
  });

  test('no other user has access to the data, the logs or the sockets', async () => {
    const modes = async (names: string[]): Promise<string[]> =>
      Promise.all(
        names.map(async (name) =>
          ((await stat(path.join(dataDir, name))).mode & 0o777).toString(8),
        ),
      );
    const folders = ['.', 'cache', 'mongodb', 'redis', 'logs', 'leases'];
    expect(await modes(folders)).toEqual(folders.map(() => '700'));
    const files = [
      'mongodb/mongodb.sock',
      'redis/redis.sock',
      'logs/mongod.log',
      'logs/redis-server.log',
    ];
    expect(await modes(files)).toEqual(files.map(() => '600'));
  });

  test('Redis has no commands that access files, code or memory', async () => {
    const client = new Redis(servers.redisUrl ?? '');
    try {
      for (const [command, ...args] of [
        ['CONFIG', 'SET', 'dir', '/tmp'],
        ['MODULE', 'LIST'],
        ['DEBUG', 'SLEEP', '0'],
      ] as const) {
        await expect(client.call(command, ...args)).rejects.toThrow(/unknown command/i);
      }
    } finally {
      client.disconnect();
    }
  });

  test('the log of MongoDB contains no user data', async () => {
    const { mongodbUri } = servers;
    const plants = plantsOf(mongodbUri);
    await plants.insertOne({ _id: 'secret-basil' });
    // Slower than what MongoDB logs by itself.
    const slow = { $where: 'sleep(300) || true', _id: 'secret-basil' };
    expect(await plants.find(slow).toArray()).toHaveLength(1);
    // Conflicts and disconnects are logged with their commands.
    const client = await new mongo.MongoClient(mongodbUri, { socketTimeoutMS: 200 }).connect();
    const session = client.startSession();
    session.startTransaction();
    const renamed = { $set: { name: 'secret-basil' } };
    const own = client.db().collection<{ _id: string }>(plants.collectionName);
    await own.updateOne({ _id: 'secret-basil' }, renamed, { session });
    const other = client.startSession();
    other.startTransaction();
    const conflict = own.findOneAndUpdate({ _id: 'secret-basil' }, renamed, { session: other });
    await expect(conflict).rejects.toThrow(/conflict/i);
    await expect(own.find(slow).toArray()).rejects.toThrow(/timed out/);
    await client.close();
    const log = await readFile(path.join(dataDir, 'logs/mongod.log'), 'utf8');
    expect(log).toContain('Waiting for connections');
    expect(log).not.toContain('secret-basil');
  });
});

test('a second server on a data directory is refused; the first keeps running, and stops its servers when it exits', async () => {
  const dataDir = await dataDirectory();
  const first = await program(dataDir);
  const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
  const refused = acquire(dataDir);
  await expect(refused).rejects.toThrow(ServersError);
  await expect(refused).rejects.toThrow(
    `Another server is running on the data directory ${dataDir}: stop it, or set DATA_DIR to another folder.`,
  );
  expect([processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')]).toEqual(all);
  await connect(first.servers.mongodbUri).db().command({ ping: 1 });
  // Without releasing them.
  await first.exit();
  await until(() => !all.some(isAlive));
});

test('commands attach to the MongoDB of a server, and leave it running', async () => {
  const dataDir = await dataDirectory();
  const server = await acquire(dataDir);
  const mongod = processOf(dataDir, 'mongod');
  const meanwhile = jest.fn();
  const passing = await acquire(dataDir, 'tool', [], meanwhile);
  expect(meanwhile).not.toHaveBeenCalled();
  expect(passing.mongodbUri).toBe(server.mongodbUri);
  expect(passing.redisUrl).toBe(server.redisUrl);
  expect(passing.notes).toContain('MongoDB was already running.');
  const another = await program(dataDir, { role: 'tool' });
  await passing.release();
  await another.crash();
  await connect(server.mongodbUri).db().command({ ping: 1 });
  expect(processOf(dataDir, 'mongod')).toBe(mongod);
  await server.release();
  expect(isAlive(mongod)).toBe(false);
});

test('a server and another command wait for a command to end, and report it', async () => {
  const dataDir = await dataDirectory();
  const tool = await acquire(dataDir, 'tool');
  await plantsOf(tool.mongodbUri).insertOne({ _id: 'Basil' });
  const reported: string[] = [];
  const served = acquire(dataDir, 'server', reported);
  const visited = acquire(dataDir, 'tool', reported).then(async ({ mongodbUri, release }) => {
    expect(await plantsOf(mongodbUri).countDocuments()).toBe(1);
    await release();
  });
  await until(() => reported.length === 2);
  const line = 'Waiting for another process that uses the data directory …';
  expect(reported).toEqual([line, line]);
  await tool.release();
  await visited;
  expect(await plantsOf((await served).mongodbUri).countDocuments()).toBe(1);
});

test('a wait for a command can be aborted', async () => {
  const dataDir = await dataDirectory();
  await acquire(dataDir, 'tool');
  const stopping = AbortSignal.timeout(500);
  const waiting = acquireServers({ dataDir }, { role: 'server', stopping });
  await expect(waiting).rejects.toThrow('aborted');
});

test('a killed program leaves no server, and the next one gets its data without open transactions', async () => {
  const dataDir = await dataDirectory();
  const killed = await program(dataDir);
  const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
  const client = connect(killed.servers.mongodbUri);
  await plantsOf(killed.servers.mongodbUri).insertOne({ _id: 'Basil' });
  const session = client.startSession();
  session.startTransaction();
  const update = { $set: { name: 'Mint' } };
  const open = client.db().collection<{ _id: string }>('plants');
  await open.updateOne({ _id: 'Basil' }, update, { session });
  await killed.crash();

  const next = await acquire(dataDir);
  await until(() => !all.some(isAlive));
  const written = await plantsOf(next.mongodbUri).updateOne({ _id: 'Basil' }, update, {
    maxTimeMS: 2_000,
  });
  expect(written.modifiedCount).toBe(1);
  // MongoDB ends its session; without MongoDB, the process waits.
  await client.close();
});

test('a hung MongoDB that a killed program left is stopped and restarted', async () => {
  const dataDir = await dataDirectory();
  const killed = await program(dataDir);
  const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
  await killed.crash();
  for (const pid of all) process.kill(pid, 'SIGSTOP');

  const next = await acquire(dataDir);
  await until(() => !all.some(isAlive));
  await connect(next.mongodbUri).db().command({ ping: 1 });
  expect(await redisResponds(next.redisUrl ?? '')).toBe(true);
});

test('whenever a starting program is killed, the next one serves', async () => {
  const dataDir = await dataDirectory();
  const { release } = await acquire(dataDir);
  await release();
  for (const delay of [300, 450, 600, 900]) {
    const starting = launch(dataDir);
    await sleep(delay);
    const ended = once(starting, 'exit');
    starting.kill('SIGKILL');
    await ended;
    const next = await acquire(dataDir);
    await plantsOf(next.mongodbUri).insertOne({ _id: `after ${delay} ms` });
    await next.release();
  }
});

test('programs that start at the same time on one data directory all succeed', async () => {
  const dataDir = await dataDirectory();
  const visit = async (role: 'server' | 'tool'): Promise<void> => {
    const { mongodbUri, release } = await acquire(dataDir, role);
    await plantsOf(mongodbUri).insertOne({ _id: randomUUID() });
    if (role === 'tool') await release();
  };
  await Promise.all([visit('tool'), visit('server'), visit('tool'), visit('tool')]);
  const { mongodbUri } = await acquire(dataDir, 'tool');
  expect(await plantsOf(mongodbUri).countDocuments()).toBe(4);
});

test('release stops the servers even if the data directory was deleted', async () => {
  const dataDir = await dataDirectory();
  const servers = await acquire(dataDir);
  const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
  // MongoDB may be adding files meanwhile.
  await rm(dataDir, { recursive: true, maxRetries: 20 });
  await servers.release();
  expect(all.some(isAlive)).toBe(false);
  expect(existsSync(dataDir)).toBe(false);
});
