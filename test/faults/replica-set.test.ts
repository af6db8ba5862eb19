import { mongo } from 'mongoose';

import { Client } from '../support/client';
import { until } from '../support/processes';
import type { TestService } from '../support/service';
import { expectExactly, type Scene, Writer } from './writers';
import {
  differencesOf,
  dataDirectory,
  makeTokens,
  RealServer,
  removeDataDirectory,
  ReplicaSet,
  startService,
} from '../support/program';

const USERS = ['ann', 'bob', 'eve'];
/** Writes acknowledged through each server between two faults: several of each writer. */
const BETWEEN_FAULTS = 8;

let set: ReplicaSet;
let mongodbUri: string;
let dataDir: string;
/** A process of its own, to be killed. */
let victim: RealServer;
/** The servers that survive run in this process, which takes a tenth of the time. */
let second: TestService;
let third: TestService;

beforeAll(async () => {
  set = await ReplicaSet.start();
  mongodbUri = set.uri('plantcare');
  second = await startService({ mongodbUri });
  third = await startService({ mongodbUri });
});
beforeEach(async () => {
  dataDir = await dataDirectory();
  const given = { MONGODB_URI: mongodbUri, REDIS_URL: process.env['TEST_REDIS_URL'] };
  victim = await RealServer.start(dataDir, given);
});
afterEach(async () => {
  await victim.kill();
  await removeDataDirectory(dataDir);
});
afterAll(async () => {
  await second.close();
  await third.close();
  await set.remove();
});

test('with three servers and three mongods, killing one of each loses and doubles no write', async () => {
  const tokens = await makeTokens(second.app, USERS);
  const scenes = [victim, second, third].map(({ url }): Scene => ({
    url,
    serverMayBeDown: false,
    stopped: false,
    acknowledged: 0,
    faults: [],
  }));
  // Each account is written to through each server.
  const writers = tokens.map((token, user) =>
    scenes.map((scene, index) => new Writer(`${USERS[user] ?? ''}-${index}`, token, scene)),
  );
  const running = Promise.all(writers.flat().map((writer) => writer.run()));
  const goesOn = (): Promise<unknown> => {
    const goals = scenes.map(({ acknowledged }) => acknowledged + BETWEEN_FAULTS);
    const isThere = () => scenes.every((scene, index) => scene.acknowledged >= (goals[index] ?? 0));
    return Promise.race([until(isThere).then(() => true), running]);
  };
  try {
    expect(await goesOn()).toBe(true);
    await set.killPrimary();
    expect(await goesOn()).toBe(true);
    const [scene] = scenes;
    if (!scene) throw new Error('There are three.');
    // A load balancer would send its clients to another one.
    scene.serverMayBeDown = true;
    await victim.kill();
    scene.url = second.url;
    expect(await goesOn()).toBe(true);
  } finally {
    for (const scene of scenes) scene.stopped = true;
    await running;
  }
  expect(scenes.flatMap(({ faults }) => faults)).toEqual([]);
  for (const [user, token] of tokens.entries()) {
    for (const scene of scenes) {
      await expectExactly(new Client(scene.url, token), writers[user] ?? []);
    }
  }
  for (const user of USERS) expect(await differencesOf(second.app, user)).toEqual([]);
});

/** MongoDB's code for a command that exceeded its time limit. */
const TIMED_OUT = 50;

/** Kills a server in the middle of a write to an account; MongoDB itself would end the transaction after a minute. */
async function killWithinWrite(
  { process: { pid }, url }: RealServer,
  userId: string,
  token: string,
): Promise<void> {
  if (pid === undefined) throw new Error('The server does not run.');
  const mongodb = await new mongo.MongoClient(mongodbUri).connect();
  const accounts = mongodb.db().collection<{ _id: string }>('accounts');
  const isBeingWritten = async (): Promise<boolean> => {
    const write = { $inc: { revision: 1 } };
    const options = { maxTimeMS: 500, writeConcern: { w: 1 } };
    return accounts.updateOne({ _id: userId }, write, options).then(
      () => false,
      (error: unknown) => error instanceof mongo.MongoServerError && error.code === TIMED_OUT,
    );
  };
  const client = new Client(url, token);
  const writing = (async () => {
    for (;;) await client.send('POST', '/api/plants', { body: { name: 'Fern' } });
  })().catch(() => undefined);
  const isStoppedWithin = async (): Promise<boolean> => {
    process.kill(pid, 'SIGSTOP');
    if (await isBeingWritten()) return true;
    process.kill(pid, 'SIGCONT');
    return false;
  };
  await until(isStoppedWithin);
  process.kill(pid, 'SIGKILL');
  await writing;
  await mongodb.close();
}

test('a write that the transaction of a killed server blocks succeeds through another server', async () => {
  const [token = ''] = await makeTokens(second.app, ['gwen']);
  await killWithinWrite(victim, 'gwen', token);
  const client = new Client(second.url, token);
  let status: number;
  do ({ status } = await client.send('POST', '/api/plants', { body: { name: 'Moss' } }));
  while (status === 503);
  expect(status).toBe(201);
  expect(second.logged.join('')).toContain('a killed process left open');
});
