import { Client } from '../support/client';
import { differencesOf } from '../support/differences';
import { OwnRedis } from '../support/own-redis';
import { until } from '../support/processes';
import {
  asOperatorOf,
  dataDirectory,
  makeTokens,
  RealServer,
  removeDataDirectory,
} from '../support/real-server';
import { ReplicaSet } from '../support/replica-set';
import { expectExactly, type Scene, Writer } from './writers';

const USERS = ['ann', 'bob', 'eve'];
const SERVERS = 3;
/** Writes acknowledged through each server between two faults. */
const BETWEEN_FAULTS = 15;

let set: ReplicaSet;
let redis: OwnRedis;
let servers: RealServer[];
let dataDirs: string[];
let mongodbUri: string;

beforeEach(async () => {
  servers = [];
  dataDirs = [];
  set = await ReplicaSet.start();
  redis = await OwnRedis.prepare();
  await redis.start();
  mongodbUri = set.uri('plantcare');
  for (let index = 0; index < SERVERS; index += 1) {
    const dataDir = await dataDirectory();
    dataDirs.push(dataDir);
    const given = { MONGODB_URI: mongodbUri, REDIS_URL: redis.url };
    servers.push(await RealServer.start(dataDir, given));
  }
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await Promise.all(dataDirs.map(removeDataDirectory));
  await redis.remove();
  await set.remove();
});

test('three servers on three mongods lose and double nothing when a mongod and a server die', async () => {
  const tokens = await asOperatorOf(mongodbUri, (app) => makeTokens(app, USERS));
  const scenes = servers.map(({ url }): Scene => ({
    ...{ url, serverMayBeDown: false, stopped: false, acknowledged: 0, faults: [] },
  }));
  // Each account is written to through each of the servers.
  const writers = tokens.map((token, user) =>
    scenes.map((scene, index) => new Writer(`${USERS[user] ?? ''}-${index}`, token, scene)),
  );
  const running = Promise.all(writers.flat().map((writer) => writer.run()));
  const goesOn = (): Promise<unknown> => {
    const goals = scenes.map(({ acknowledged }) => acknowledged + BETWEEN_FAULTS);
    const isThere = () => scenes.every((scene, index) => scene.acknowledged >= (goals[index] ?? 0));
    return Promise.race([until(isThere, { within: 60_000 }), running]);
  };
  try {
    expect(await goesOn()).toBe(true);
    await set.killPrimary();
    expect(await goesOn()).toBe(true);
    const [first, second] = servers;
    const [scene] = scenes;
    if (!first || !second || !scene) throw new Error('There are three of each.');
    // Its callers go to another one, as a balancer has them do.
    scene.serverMayBeDown = true;
    await first.kill();
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
  await asOperatorOf(mongodbUri, async (app) => {
    for (const user of USERS) expect(await differencesOf(app, user)).toEqual([]);
  });
}, 180_000);
