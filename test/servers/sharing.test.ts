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
  aMongod,
  connect,
  dataDirectory,
  until,
  isAlive,
  kill,
  launch,
  plantsOf,
  processOf,
  program,
  standIn,
  temporaryFolder,
} from './support';
import { acquireServers, ServersError } from '../../src/servers';
import { redisAnswers } from '../../src/servers/redis';

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
  expect(await redisAnswers(servers.redisUrl ?? '')).toBe(true);
  expect(servers.notes).toEqual([
    expect.stringMatching(/^MongoDB [\d.]+ \(.+\) was started\.$/),
    expect.stringMatching(/^Redis [\d.]+ \(.+\) was started\.$/),
  ]);

  const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
  for (const pid of all) {
    // Of a process group of their own, so that a Ctrl-C reaches the program alone.
    const [group] =
      (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ').slice(2) ?? [];
    expect(Number(group)).toBe(pid);
  }
  await servers.release();
  await servers.release();
  await until(() => !all.some(isAlive));
  const leases = await readdir(path.join(dataDir, 'leases'));
  expect(leases.filter((name) => !name.startsWith('process-'))).toEqual([]);
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

  test('no other user gets at the data, the logs or the sockets', async () => {
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

  test('what reaches files, code or memory through Redis is not to be had', async () => {
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

  test('the log of MongoDB does not hold what users wrote', async () => {
    const { mongodbUri } = servers;
    const plants = plantsOf(mongodbUri);
    await plants.insertOne({ _id: 'secret-basil' });
    // Slower than what MongoDB logs by itself.
    const slow = { $where: 'sleep(300) || true', _id: 'secret-basil' };
    expect(await plants.find(slow).toArray()).toHaveLength(1);
    // What conflicts, and what its client does not wait for, is logged with its command.
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

test('a second server on a data directory is refused; the first goes on, and takes its servers along when it exits', async () => {
  const dataDir = await dataDirectory();
  const first = await program(dataDir);
  const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
  const refused = acquire(dataDir);
  await expect(refused).rejects.toThrow(ServersError);
  await expect(refused).rejects.toThrow(
    `The data directory ${dataDir} is already served by another program: stop that one, or give this one a DATA_DIR of its own.`,
  );
  expect([processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')]).toEqual(all);
  await connect(first.servers.mongodbUri).db().command({ ping: 1 });
  // Without releasing them.
  await first.exit();
  await until(() => !all.some(isAlive));
});

test('a server and commands share one MongoDB, which the last to leave stops', async () => {
  const dataDir = await dataDirectory();
  const tool = await program(dataDir, { role: 'tool' });
  const mongod = processOf(dataDir, 'mongod');
  const server = await acquire(dataDir);
  const meanwhile = jest.fn();
  const another = await acquire(dataDir, 'tool', [], meanwhile);
  expect(meanwhile).not.toHaveBeenCalled();
  expect(server.mongodbUri).toBe(tool.servers.mongodbUri);
  expect(another.notes).toContainEqual(expect.stringMatching(/^MongoDB [\d.]+ runs already\.$/));

  await tool.leave();
  expect(isAlive(mongod)).toBe(true);
  await server.release();
  expect(isAlive(mongod)).toBe(true);
  await connect(another.mongodbUri).db().command({ ping: 1 });
  await another.release();
  await until(() => !isAlive(mongod));
});

test('what a killed program left running is used again, its open transaction ended, and stopped in the end', async () => {
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
  expect(all.every(isAlive)).toBe(true);

  const next = await acquire(dataDir);
  expect(next.mongodbUri).toBe(killed.servers.mongodbUri);
  expect(next.notes[0]).toMatch(
    /^MongoDB [\d.]+ was left by a killed program and is used again\.$/,
  );
  expect([processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')]).toEqual(all);
  const written = await plantsOf(next.mongodbUri).updateOne({ _id: 'Basil' }, update, {
    maxTimeMS: 2_000,
  });
  expect(written.modifiedCount).toBe(1);
  // While there is a MongoDB that can end its session; without one it is waited for.
  await client.close();
  await next.release();
  await until(() => !all.some(isAlive));
});

test('a MongoDB that a killed program was starting is waited for and used', async () => {
  const dataDir = await dataDirectory();
  const folder = await temporaryFolder();
  const started = path.join(folder, 'started');
  const slowly = `[ "$1" = --version ] || { touch ${started}; sleep 1; }`;
  await standIn(folder, 'mongod', `${slowly}\nexec ${(await aMongod()).path} "$@"`);
  const starting = launch(dataDir, { env: { PATH: `${folder}:${process.env['PATH'] ?? ''}` } });
  await until(() => existsSync(started));
  starting.kill('SIGKILL');
  const { notes } = await acquire(dataDir);
  expect(notes[0]).toBe('MongoDB was left by a killed program and is used again.');
});

test('what a killed program left hanging is ended and started anew', async () => {
  const dataDir = await dataDirectory();
  const killed = await program(dataDir);
  const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
  await killed.crash();
  for (const pid of all) process.kill(pid, 'SIGSTOP');

  const next = await acquire(dataDir);
  await until(() => !all.some(isAlive));
  await connect(next.mongodbUri).db().command({ ping: 1 });
  expect(await redisAnswers(next.redisUrl ?? '')).toBe(true);
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

test('programs that start at once on one data directory end with one MongoDB', async () => {
  const dataDir = await dataDirectory();
  const all = await Promise.all([
    acquire(dataDir, 'tool'),
    acquire(dataDir, 'server'),
    acquire(dataDir, 'tool'),
    program(dataDir, { role: 'tool' }).then(({ servers, leave }) => ({
      ...servers,
      release: leave,
    })),
  ]);
  const mongod = processOf(dataDir, 'mongod');
  const started = all.filter(({ notes }) => notes.some((note) => /^MongoDB.*started/.test(note)));
  expect(started).toHaveLength(1);
  await Promise.all(all.map(async ({ release }) => release()));
  await until(() => !isAlive(mongod));
});

test('release stops the servers also when the data directory was deleted under them', async () => {
  const dataDir = await dataDirectory();
  const killed = await program(dataDir);
  const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
  await killed.crash();
  await kill(processOf(dataDir, 'redis'));
  // One of the servers is a child of this program, the other one was found.
  const servers = await acquire(dataDir);
  all.push(processOf(dataDir, 'redis'));
  // MongoDB may be adding files meanwhile.
  await rm(dataDir, { recursive: true, maxRetries: 20 });
  await servers.release();
  await until(() => !all.some(isAlive));
  expect(existsSync(dataDir)).toBe(false);
});

test('a program that exits without releasing leaves the servers that others use', async () => {
  const dataDir = await dataDirectory();
  const careless = await program(dataDir);
  const tool = await acquire(dataDir, 'tool');
  const mongod = processOf(dataDir, 'mongod');
  await careless.exit();
  await sleep(2_000);
  await connect(tool.mongodbUri).db().command({ ping: 1 });
  await tool.release();
  await until(() => !isAlive(mongod));
});
