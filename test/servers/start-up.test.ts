import { mongo } from 'mongoose';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { freePort } from '../support/processes';
import { afterwards, startMongod, temporaryFolder } from './support';
import {
  startProgram,
  exitOf,
  freshDatabase,
  giveBack,
  takeDatabase,
  RealServer,
} from '../support/program';

const { TEST_REDIS_URL: REDIS_URL } = process.env;

/** A replica set in little memory. */
const REPLICA_SET = ['--replSet', 'rs', '--wiredTigerCacheSizeGB', '0.25'];

/** A replica set of one with authentication, and the URI of its root user. */
async function guardedMongod(): Promise<{ host: string; root: mongo.MongoClient }> {
  const port = await freePort();
  const keyFile = path.join(await temporaryFolder(), 'key');
  await writeFile(keyFile, 'c2VjcmV0c2VjcmV0', { mode: 0o400 });
  await startMongod(port, ...REPLICA_SET, '--keyFile', keyFile);
  const host = `127.0.0.1:${port}`;
  const local = new mongo.MongoClient(`mongodb://${host}/?directConnection=true`);
  const admin = local.db('admin');
  await admin.command({ replSetInitiate: { _id: 'rs', members: [{ _id: 0, host }] } });
  while ((await admin.command({ hello: 1 }))['isWritablePrimary'] !== true) await sleep(50);
  await admin.command({ createUser: 'root', pwd: 'pw', roles: ['root'] });
  await local.close();
  const root = new mongo.MongoClient(`mongodb://root:pw@${host}/`);
  afterwards(() => root.close());
  return { host, root };
}

/** The exit code of a server that must not start, and its one sentence. */
async function refusalOf(env: NodeJS.ProcessEnv): Promise<{ code: number | null; said: string }> {
  const server = RealServer.spawn('/nonexistent', { DATA_DIR: await temporaryFolder(), ...env });
  const { code } = await server.ended;
  expect(server.stdout).toBe('');
  expect(server.stderr).toMatch(/^[A-Z].*\.\n$/);
  return { code, said: server.stderr.trim() };
}

test('rejected credentials and missing rights are each reported in one sentence', async () => {
  const { host, root } = await guardedMongod();
  await root.db('admin').command({
    createUser: 'reader',
    pwd: 'hunter2',
    roles: [{ role: 'read', db: 'plants' }],
  });
  const dataDir = await temporaryFolder();
  const startAs = async (login: string) => {
    const MONGODB_URI = `mongodb://${login}${host}/plants?authSource=admin`;
    const env = { MONGODB_URI, REDIS_URL, DATA_DIR: dataDir };
    // In this process; other tests show that a failed start prints one line.
    const end = await startProgram({ role: 'server', env }).then(() => undefined, exitOf);
    return { code: end?.exitCode, said: end?.message };
  };
  expect(await startAs('reader:wrong@')).toEqual({
    code: 1,
    said: expect.stringMatching(
      /^The MongoDB of MONGODB_URI rejects the credentials: check [^\n]*\.$/,
    ) as string,
  });
  const noRights =
    'The MongoDB of MONGODB_URI denies access: its user needs the role readWrite on the database plants.';
  expect(await startAs('reader:hunter2@')).toEqual({ code: 1, said: noRights });
  expect(await startAs('')).toEqual({ code: 1, said: noRights });
});

test('the journal of a managed MongoDB takes a hundred megabytes, not three', async () => {
  const dataDir = path.dirname(process.env['TEST_DATABASES'] ?? '');
  const journal = path.join(dataDir, 'mongodb/journal');
  const sizes = await Promise.all(
    (await readdir(journal)).map(async (name) => (await stat(path.join(journal, name))).size),
  );
  expect(Math.max(...sizes)).toBe(32 * 1024 * 1024);
});

test('an index with other options is recreated', async () => {
  const uri = freshDatabase();
  const client = new mongo.MongoClient(uri);
  const tokens = client.db().collection('tokens');
  await tokens.createIndex({ hash: 1 }, {}, {});
  const env = { MONGODB_URI: uri, REDIS_URL, DATA_DIR: await temporaryFolder() };
  const program = await startProgram({ role: 'server', env });
  await program.stop();
  expect(await tokens.indexes()).toContainEqual(
    expect.objectContaining({ key: { hash: 1 }, unique: true }),
  );
  await client.db().dropDatabase();
  await client.close();
});

test('a server waits for a MongoDB that does not respond, then fails with one sentence', async () => {
  const uri = `mongodb://ada:hunter2@127.0.0.1:${await freePort()}/plants`;
  const server = RealServer.spawn(await temporaryFolder(), {
    MONGODB_URI: uri,
    REDIS_URL,
    STARTUP_TIMEOUT_SECONDS: '6',
  });
  expect(await server.ended).toEqual({ code: 1, signal: null });
  const [waiting = '', sentence, ...others] = server.stderr.trim().split('\n');
  expect(JSON.parse(waiting)).toMatchObject({
    msg: expect.stringMatching(/cannot be reached: .* Retrying for up to 6 s\.$/) as string,
  });
  expect(sentence).toMatch(/^The MongoDB of MONGODB_URI cannot be reached: .*\.$/);
  expect(others).toEqual([]);
  expect(server.stderr).not.toContain('hunter2');
});

test('a server uses a MongoDB that becomes reachable while it waits, and the wait can be stopped', async () => {
  const port = await freePort();
  const uri = `mongodb://127.0.0.1:${port}/plants?directConnection=true`;
  const env = { MONGODB_URI: uri, REDIS_URL };
  // Started before the other one, which reports when both wait.
  const starting = startProgram({
    role: 'server',
    env: { ...env, DATA_DIR: await temporaryFolder(), LOG_LEVEL: 'error' },
  });
  const stopped = RealServer.spawn(await temporaryFolder(), env);
  while (!stopped.stderr.includes('Retrying for up to')) await sleep(50);
  stopped.process.kill('SIGTERM');
  expect(await stopped.ended).toEqual({ code: 0, signal: null });

  await startMongod(port, ...REPLICA_SET);
  const client = new mongo.MongoClient(uri);
  const members = [{ _id: 0, host: `127.0.0.1:${port}` }];
  await client.db('admin').command({ replSetInitiate: { _id: 'rs', members } });
  await client.close();
  const program = await starting;
  expect(await program.app.database.connection.collection('tokens').countDocuments()).toBe(0);
  await program.stop();
});

test('an unexpected error during the start ends the server with its message', async () => {
  const preload = path.join(await temporaryFolder(), 'preload.js');
  await writeFile(preload, "process.on('SIGUSR2', () => { throw new Error('on purpose'); });");
  const server = RealServer.spawn(await temporaryFolder(), {
    MONGODB_URI: `mongodb://127.0.0.1:${await freePort()}/plants`,
    REDIS_URL,
    NODE_OPTIONS: `--require ${preload}`,
  });
  while (!server.stderr.includes('Retrying for up to')) await sleep(50);
  server.process.kill('SIGUSR2');
  expect(await server.ended).toEqual({ code: 1, signal: null });
  expect(server.stderr).toContain('The server stops because of an error: Error: on purpose\n');
});

test('a server that finds no data says so, since it may be looking in the wrong place', async () => {
  const uri = freshDatabase();
  const env = { MONGODB_URI: uri, REDIS_URL, DATA_DIR: await temporaryFolder() };
  const starts: string[][] = [];
  while (starts.length < 2) {
    const said: string[] = [];
    starts.push(said);
    const progress = (line: string): void => void said.push(line);
    const program = await startProgram({ role: 'server', env, progress });
    await program.stop();
  }
  const warning = 'The database is empty; if it should have data, check DATA_DIR or MONGODB_URI';
  expect(starts).toEqual([[warning], []]);
  await giveBack(uri);
});

test('a HOST that is not an address of this machine is reported in one sentence', async () => {
  const uri = takeDatabase();
  const env = { MONGODB_URI: uri, REDIS_URL, HOST: '203.0.113.9' };
  expect(await refusalOf(env)).toEqual({
    code: 1,
    said: 'HOST 203.0.113.9 is not an address of this machine; set HOST to one of its addresses, or to 0.0.0.0 for all.',
  });
  await giveBack(uri);
});

test('a PORT in use ends the start, even after the port for metrics was opened', async () => {
  const PORT = String(await freePort());
  const taken = createServer();
  afterwards(async () => {
    taken.close();
  });
  await new Promise<void>((resolve) => taken.listen(Number(PORT), '127.0.0.1', resolve));
  const uri = takeDatabase();
  const env = { MONGODB_URI: uri, REDIS_URL, PORT, METRICS_PORT: '0' };
  expect(await refusalOf(env)).toEqual({
    code: 1,
    said: `Port ${PORT} on 127.0.0.1 is already in use; set PORT to another port.`,
  });
  await giveBack(uri);
});
