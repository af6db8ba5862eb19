import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireServers, ServersError, type Servers } from '../../src/servers';
import { isAlive } from '../../src/servers/processes';
import { redisAnswers } from '../../src/servers/redis';
import { afterwards, connect, eventually, processOf, program, temporaryFolder } from './support';

async function acquire(dataDir: string, role: 'server' | 'tool'): Promise<Servers> {
  const servers = await acquireServers({ dataDir }, { role });
  afterwards(async () => servers.release());
  return servers;
}

test('a fresh data directory gets a MongoDB with transactions and a Redis, which release stops', async () => {
  const dataDir = await temporaryFolder();
  const servers = await acquire(dataDir, 'server');

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
    expect.stringMatching(/^MongoDB [\d.]+ \(.+\) was started on port \d+\.$/),
    expect.stringMatching(/^Redis [\d.]+ \(.+\) was started on port \d+\.$/),
  ]);

  const mongod = await processOf(dataDir, 'mongod');
  const redis = await processOf(dataDir, 'redis');
  const command = execFileSync('ps', ['-o', 'args=', '-p', String(mongod.pid)], {
    encoding: 'utf8',
  });
  expect(command).toContain(`--dbpath ${join(dataDir, 'mongodb')}`);
  const group = execFileSync('ps', ['-o', 'pgid=', '-p', String(mongod.pid)], { encoding: 'utf8' });
  expect(Number(group)).toBe(mongod.pid);

  await servers.release();
  await servers.release();
  expect(isAlive(mongod)).toBe(false);
  expect(isAlive(redis)).toBe(false);
  expect(await readdir(join(dataDir, 'holders'))).toEqual([]);
});

test('a second server on a data directory is refused and the first is not disturbed', async () => {
  const dataDir = await temporaryFolder();
  const first = await program({ dataDir }, 'server');
  const refused = acquireServers({ dataDir }, { role: 'server' });
  await expect(refused).rejects.toThrow(ServersError);
  await expect(refused).rejects.toThrow(`is already served by process ${first.pid}`);
  await connect(first.servers.mongodbUri).db().command({ ping: 1 });
});

test('a server and commands share one MongoDB, which the last to leave stops', async () => {
  const dataDir = await temporaryFolder();
  const tool = await program({ dataDir }, 'tool');
  const mongod = await processOf(dataDir, 'mongod');
  const server = await acquire(dataDir, 'server');
  const another = await acquire(dataDir, 'tool');
  expect(server.mongodbUri).toBe(tool.servers.mongodbUri);
  expect(another.notes).toContainEqual(expect.stringMatching(/^MongoDB .* runs already on port/));

  await tool.leave();
  expect(isAlive(mongod)).toBe(true);
  await server.release();
  expect(isAlive(mongod)).toBe(true);
  await connect(another.mongodbUri).db().command({ ping: 1 });
  await another.release();
  expect(isAlive(mongod)).toBe(false);
});

test('what a killed program left running is used again, and stopped in the end', async () => {
  const dataDir = await temporaryFolder();
  const killed = await program({ dataDir }, 'server');
  const mongod = await processOf(dataDir, 'mongod');
  const redis = await processOf(dataDir, 'redis');
  await killed.crash();
  expect(isAlive(mongod)).toBe(true);

  const next = await acquire(dataDir, 'server');
  expect(next.mongodbUri).toBe(killed.servers.mongodbUri);
  expect(next.notes[0]).toContain('left running by a program that was killed');
  expect(await processOf(dataDir, 'mongod')).toEqual(mongod);
  await next.release();
  expect(isAlive(mongod)).toBe(false);
  expect(isAlive(redis)).toBe(false);
});

test('what a killed program left hanging or unrecorded is stopped and started anew', async () => {
  const dataDir = await temporaryFolder();
  const killed = await program({ dataDir }, 'server');
  const mongod = await processOf(dataDir, 'mongod');
  const redis = await processOf(dataDir, 'redis');
  await killed.crash();
  process.kill(mongod.pid, 'SIGSTOP');
  await rm(join(dataDir, 'redis.json'));

  const next = await acquire(dataDir, 'server');
  expect(isAlive(mongod)).toBe(false);
  // Only Linux tells where an unknown process works.
  if (process.platform === 'linux') expect(isAlive(redis)).toBe(false);
  await connect(next.mongodbUri).db().command({ ping: 1 });
});

test('programs that start at once on one data directory end with one MongoDB', async () => {
  const dataDir = await temporaryFolder();
  const all = await Promise.all([
    acquire(dataDir, 'tool'),
    acquire(dataDir, 'server'),
    acquire(dataDir, 'tool'),
  ]);
  expect(new Set(all.map(({ mongodbUri }) => mongodbUri)).size).toBe(1);
  await Promise.all(all.map(async ({ release }) => release()));
  expect(await readFile(join(dataDir, 'mongod.json'), 'utf8')).not.toContain('process');
});

test('release stops the servers also when the data directory was deleted under them', async () => {
  const dataDir = await temporaryFolder();
  const servers = await acquire(dataDir, 'server');
  const mongod = await processOf(dataDir, 'mongod');
  const redis = await processOf(dataDir, 'redis');
  // MongoDB may be adding files meanwhile.
  await rm(dataDir, { recursive: true, maxRetries: 20 });
  await servers.release();
  expect(isAlive(mongod)).toBe(false);
  expect(isAlive(redis)).toBe(false);
  await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
});

test('a program that exits without releasing takes its servers with it', async () => {
  const dataDir = await temporaryFolder();
  const careless = await program({ dataDir }, 'server');
  const mongod = await processOf(dataDir, 'mongod');
  await careless.exit();
  await eventually(() => !isAlive(mongod));
});
