import { mongo } from 'mongoose';

import { Client } from '../support/client';
import { kill as killProcess, ownProcess, until } from '../support/processes';
import { expectExactly, type Scene, Writer } from './writers';
import {
  differencesOf,
  asOperator,
  databaseOf,
  dataDirectory,
  RealServer,
  removeDataDirectory,
  runningServers,
  tokensOf,
} from '../support/program';

const USERS = ['ann', 'bob', 'eve'];
/** An account without a writer, so that only what a kill leaves can block its write. */
const ALONE = 'gwen';
/** Most kill only MongoDB, since starting the server takes three times as long as everything else. */
const KILLS = [
  'mongod',
  'server',
  'mongod',
  'both',
  'mongod',
  'mongod',
  'server',
  'mongod',
  'both',
  'mongod',
] as const;
/** Writes acknowledged between two kills: more than there are writers, so that each kill interrupts some. */
const BETWEEN_KILLS = 8;

let dataDir: string;
let server: RealServer;

beforeAll(async () => {
  dataDir = await dataDirectory();
  server = await RealServer.start(dataDir);
});
afterAll(async () => {
  await server.kill();
  await removeDataDirectory(dataDir);
});

/** Kills mongod and waits until it has exited; the server restarts it. */
async function killMongod(): Promise<void> {
  const mongod = ownProcess(dataDir, 'mongod');
  if (mongod === undefined) throw new Error('No mongod runs.');
  await killProcess(mongod);
}

async function kill(victim: (typeof KILLS)[number], scene: Scene): Promise<void> {
  if (victim === 'mongod') {
    await killMongod();
    return;
  }
  scene.serverMayBeDown = true;
  await Promise.all([server.kill(), ...(victim === 'both' ? [killMongod()] : [])]);
  server = await RealServer.start(dataDir);
  scene.url = server.url;
  scene.serverMayBeDown = false;
}

/** Kills another process in the middle of a write to an account. */
async function writing(userId: string): Promise<mongo.MongoClient> {
  const killed = await new mongo.MongoClient(databaseOf(dataDir)).connect();
  const session = killed.startSession();
  session.startTransaction();
  const accounts = killed.db().collection<{ _id: string }>('accounts');
  await accounts.updateOne({ _id: userId }, { $inc: { revision: 1 } }, { session });
  return killed;
}

/** Kills the server while it has an open transaction, which nothing else would end soon. */
async function killWithinWrite(token: string, scene: Scene): Promise<void> {
  const killed = await writing(ALONE);
  try {
    await kill('server', scene);
    const client = new Client(server.url, token);
    const reply = await client.send('POST', '/api/plants', { body: { name: 'Fern' } });
    expect(reply).toMatchObject({ status: 201 });
  } finally {
    await killed.close(true);
  }
}

test('after ten kills of the server and of MongoDB, no acknowledged write is lost or doubled', async () => {
  const [alone = '', ...tokens] = await tokensOf(dataDir, [ALONE, ...USERS]);
  const scene: Scene = {
    url: server.url,
    serverMayBeDown: false,
    stopped: false,
    acknowledged: 0,
    faults: [],
  };
  const writers = tokens.map((token, user) =>
    [1, 2].map((number) => new Writer(`${USERS[user] ?? ''}-${number}`, token, scene)),
  );
  const running = Promise.all(writers.flat().map((writer) => writer.run()));
  try {
    for (const [index, victim] of KILLS.entries()) {
      const goal = scene.acknowledged + BETWEEN_KILLS;
      const isGoingOn = () => scene.acknowledged >= goal;
      const goesOn = await Promise.race([until(isGoingOn).then(() => true), running]);
      expect({ before: victim, goesOn, faults: scene.faults }).toMatchObject({ goesOn: true });
      if (index === KILLS.indexOf('server')) await killWithinWrite(alone, scene);
      else await kill(victim, scene);
    }
  } finally {
    scene.stopped = true;
    await running;
  }
  expect(scene.faults).toEqual([]);

  for (const [user, token] of tokens.entries()) {
    await expectExactly(new Client(scene.url, token), writers[user] ?? []);
  }
  await asOperator(dataDir, async (app) => {
    for (const user of USERS) expect(await differencesOf(app, user)).toEqual([]);
  });
  expect(await server.stop()).toBe(0);
  expect(await runningServers(dataDir)).toEqual([]);
});
