import { createServer } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import { acquireServers } from '../../src/servers';
import { isAlive, type ProcessRef } from '../../src/servers/processes';
import { redisAnswers } from '../../src/servers/redis';
import { afterwards, connect, eventually, kill, processOf, temporaryFolder } from './support';

async function replacementOf(
  dataDir: string,
  server: 'mongod' | 'redis',
  dead: ProcessRef,
): Promise<ProcessRef> {
  await eventually(async () => (await processOf(dataDir, server)).pid !== dead.pid);
  return processOf(dataDir, server);
}

// Between the death and the return the driver has nobody to ask.
async function finds(plants: mongo.Collection): Promise<boolean> {
  return plants.findOne({ name: 'Basil' }).then(
    (found) => found !== null,
    () => false,
  );
}

test('a MongoDB and a Redis that are killed serve again on their ports, with the data', async () => {
  const dataDir = await temporaryFolder();
  const told: string[] = [];
  const servers = await acquireServers(
    { dataDir },
    { role: 'server', progress: (line) => told.push(line) },
  );
  afterwards(servers.release);
  const plants = connect(servers.mongodbUri).db().collection('plants');
  await plants.insertOne({ name: 'Basil' }, { writeConcern: { w: 'majority' } });
  const mongod = await processOf(dataDir, 'mongod');
  const redis = await processOf(dataDir, 'redis');

  await kill(mongod);
  await kill(redis);
  const again = await replacementOf(dataDir, 'mongod', mongod);
  await eventually(async () => finds(plants));
  await plants.insertOne({ name: 'Mint' });
  await eventually(async () => redisAnswers(servers.redisUrl ?? ''));
  expect(told).toContain('MongoDB has ended unexpectedly and is started again.');
  await eventually(() => told.includes('MongoDB serves again.'));

  // Once is no more than often.
  await kill(again);
  const third = await replacementOf(dataDir, 'mongod', again);
  await eventually(async () => finds(plants));
  expect(await plants.countDocuments()).toBe(2);

  await servers.release();
  expect(isAlive(third)).toBe(false);
});

test('nothing is started again once release was called', async () => {
  const dataDir = await temporaryFolder();
  const servers = await acquireServers({ dataDir }, { role: 'server' });
  const mongod = await processOf(dataDir, 'mongod');
  process.kill(mongod.pid, 'SIGKILL');
  await servers.release();
  const redis = await processOf(dataDir, 'redis');
  // More than the supervisor takes to notice a death.
  await sleep(600);
  expect(redis).toBeUndefined();
  expect(await processOf(dataDir, 'mongod')).toBeUndefined();
});

test('MongoDB keeps its port, and moves with its data when a stranger has taken it', async () => {
  const dataDir = await temporaryFolder();
  const config = { dataDir };
  const first = await acquireServers(config, { role: 'server' });
  afterwards(first.release);
  await connect(first.mongodbUri)
    .db()
    .collection<{ _id: string }>('plants')
    .insertOne({ _id: 'Basil' });
  await first.release();
  const second = await acquireServers(config, { role: 'tool' });
  afterwards(second.release);
  expect(second.mongodbUri).toBe(first.mongodbUri);
  await second.release();

  const port = Number(new URL(first.mongodbUri).port);
  const stranger = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
  await once(stranger, 'listening');
  afterwards(async () => {
    stranger.close();
    await once(stranger, 'close');
  });
  const third = await acquireServers(config, { role: 'server' });
  afterwards(third.release);
  expect(third.mongodbUri).not.toBe(first.mongodbUri);
  expect(third.notes[0]).toContain(`because port ${port} was taken`);
  const client = connect(third.mongodbUri);
  expect(await client.db().collection('plants').countDocuments()).toBe(1);
  await client.withSession(async (session) =>
    session.withTransaction(async () => {
      await client.db().collection('plants').insertOne({ name: 'Mint' }, { session });
    }),
  );
});
