import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirectory } from '../../src/servers/data-directory';
import { Leases } from '../../src/servers/lease';
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
import { OwnServer } from '../../src/servers/own-server';
import { redis, redisAnswers } from '../../src/servers/redis';

test('a MongoDB and a Redis that are killed serve again, with the data, and are counted', async () => {
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
    expect(reported).toContain('MongoDB has ended unexpectedly and is started again.');
    expect(await plants.findOne({ _id: 'Basil' })).not.toBeNull();
    await plants.insertOne({ _id: mint });
    expect(await redisAnswers(servers.redisUrl ?? '')).toBe(true);
  }
  expect(Object.fromEntries(restarts)).toEqual({ mongod: 2, 'redis-server': 2 });
  const last = processOf(dataDir, 'mongod');
  await servers.release();
  await until(() => !isAlive(last));
});

test('a server is stopped only once nothing tries any more to reach it', async () => {
  const dataDir = await dataDirectory();
  await (await program(dataDir)).crash();
  const directory = await DataDirectory.open(dataDir);
  // Its process cannot be found by this, so it is asked by its socket.
  await rm(path.join(dataDir, 'redis', 'redis-server.lock'));
  let isAsking = false;
  const shutDown = async (socket: string): Promise<void> => {
    isAsking = true;
    await redis.shutDown(socket);
    await sleep(200);
    isAsking = false;
  };
  const search = { root: dataDir, progress: () => undefined, mayFetch: false };
  const server = new OwnServer({ ...redis, shutDown }, directory, search);
  await server.stop();
  expect(isAsking).toBe(false);
  expect(await redisAnswers(server.socket)).toBe(false);
  directory.close();
});

test('servers that were found running are started again too, and not before they end', async () => {
  const dataDir = await dataDirectory();
  await (await program(dataDir)).crash();
  const leases = new Leases(path.join(dataDir, 'leases'), undefined);
  // As hundreds of commands do meanwhile: nobody takes their connections, and there is an end to them.
  for (let count = 0; count < 600; count += 1) await leases.living('process-');
  const reported: string[] = [];
  const servers = await acquire(dataDir, 'server', reported);
  await sleep(500);
  expect(reported).toEqual([]);
  await killBoth(dataDir, reported);
  await plantsOf(servers.mongodbUri).insertOne({ _id: 'Basil' });
});

test('nothing is started again once release was called', async () => {
  const dataDir = await dataDirectory();
  const servers = await acquire(dataDir);
  process.kill(processOf(dataDir, 'mongod'), 'SIGKILL');
  await servers.release();
  await sleep(1_000);
  expect(ownProcess(dataDir, 'mongod')).toBeUndefined();
  expect(ownProcess(dataDir, 'redis')).toBeUndefined();
});

test('a MongoDB and a Redis that hang are stopped by force', async () => {
  const dataDir = await dataDirectory();
  const servers = await acquire(dataDir);
  const all = [processOf(dataDir, 'mongod'), processOf(dataDir, 'redis')];
  for (const pid of all) process.kill(pid, 'SIGSTOP');
  await servers.release();
  await until(() => !all.some(isAlive));
});
