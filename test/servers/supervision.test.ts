import { setTimeout as sleep } from 'node:timers/promises';
import { ownProcess } from '../support/processes';
import {
  acquire,
  afterwards,
  dataDirectory,
  until,
  isAlive,
  killBoth,
  plantsOf,
  processOf,
  program,
} from './support';
import { acquireServers } from '../../src/servers';
import { redisResponds } from '../../src/servers/redis';

test('a killed MongoDB or Redis is restarted with its data, and counted', async () => {
  const dataDir = await dataDirectory();
  const reported: string[] = [];
  const restarts = new Map<string, number>();
  const servers = await acquireServers(
    { dataDir },
    {
      role: 'server',
      progress: (line) => void reported.push(line),
      countRestarts: (name, by) => void restarts.set(name, (restarts.get(name) ?? 0) + by),
    },
  );
  afterwards(servers.release);
  const plants = plantsOf(servers.mongodbUri);
  await plants.insertOne({ _id: 'Basil' }, { writeConcern: { w: 'majority' } });

  // Once is no more than often.
  for (const mint of ['Mint', 'Peppermint']) {
    await killBoth(dataDir, reported);
    expect(reported).toContain('MongoDB exited unexpectedly and is being restarted.');
    expect(await plants.findOne({ _id: 'Basil' })).not.toBeNull();
    await plants.insertOne({ _id: mint });
    expect(await redisResponds(servers.redisUrl ?? '')).toBe(true);
  }
  expect(Object.fromEntries(restarts)).toEqual({ mongod: 2, 'redis-server': 2 });
  const last = processOf(dataDir, 'mongod');
  await servers.release();
  await until(() => !isAlive(last));
});

test('a Redis that was already running is replaced once it ends', async () => {
  const dataDir = await dataDirectory();
  const first = await program(dataDir);
  const reported: string[] = [];
  const { mongodbUri } = first.servers;
  // As with two servers on one MONGODB_URI.
  const progress = (line: string): void => void reported.push(line);
  const second = await acquireServers({ dataDir, mongodbUri }, { role: 'server', progress });
  afterwards(second.release);
  expect(second.notes[1]).toBe('Redis was already running.');
  await first.crash();
  await until(() => reported.includes('Redis is running again.'));
  expect(await redisResponds(second.redisUrl ?? '')).toBe(true);
});

test('nothing is restarted after release', async () => {
  const dataDir = await dataDirectory();
  const servers = await acquire(dataDir);
  process.kill(processOf(dataDir, 'mongod'), 'SIGKILL');
  await servers.release();
  await sleep(1_000);
  expect(ownProcess(dataDir, 'mongod')).toBeUndefined();
  expect(ownProcess(dataDir, 'redis')).toBeUndefined();
});

test('a hung MongoDB or Redis is killed', async () => {
  const dataDir = await dataDirectory();
  const servers = await acquire(dataDir);
  const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
  for (const pid of all) process.kill(pid, 'SIGSTOP');
  await servers.release();
  await until(() => !all.some(isAlive));
});
