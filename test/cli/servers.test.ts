import { existsSync } from 'node:fs';
import path from 'node:path';

import { mongo } from 'mongoose';

import { record, records } from '../support/client';
import { until } from '../support/processes';
import { type Ended, run, start } from './run';
import {
  acquireServers,
  databaseOf,
  dataDirectory,
  RealServer,
  removeDataDirectory,
  runningServers,
  userOf,
} from '../support/program';

let dataDir: string;

beforeEach(async () => {
  dataDir = await dataDirectory();
});

afterEach(async () => {
  await removeDataDirectory(dataDir);
});

/** In this process; the tests with `start` show that commands also work in one of their own. */
function runHere(...args: string[]): Promise<Ended> {
  return run(args, { DATA_DIR: dataDir });
}

/** Waits until the MongoDB of a command has so many of its writes that it is in the middle of its work. */
async function untilManyAreInserted(): Promise<void> {
  const client = new mongo.MongoClient(databaseOf(dataDir));
  try {
    await until(async () => {
      const { opcounters } = await client.db('admin').command({ serverStatus: 1 });
      return (opcounters as { insert: number }).insert > 1000; // The reply of MongoDB.
    }, 100);
  } finally {
    await client.close();
  }
}

/** Runs a MongoDB for the commands in `work`, so that each need not start its own. */
async function whileServersRun(work: () => Promise<void>): Promise<void> {
  const servers = await acquireServers({ dataDir }, { role: 'server' });
  try {
    await work();
  } finally {
    await servers.release();
  }
}

test('commands work before, beside and after a server on the same data directory', async () => {
  const create = ['token', 'create', '--user', 'ada', '--json'];
  const before = await start(create, { DATA_DIR: dataDir }).ended;
  expect(before.code).toBe(0);
  expect(before.stdout).toMatch(/^\{[^\n]+\}\n$/);
  expect(await runningServers(dataDir)).toEqual([]);

  const server = await RealServer.start(dataDir);
  const { id, token } = record(JSON.parse(before.stdout));
  const ada = userOf(server.url, 'ada', String(token));
  await ada.plant();
  const beside = await runHere('token', 'revoke', String(id));
  expect(beside).toMatchObject({ code: 0, stderr: '' });
  await ada.get('/api/plants').expect(401);
  expect(await runningServers(dataDir)).toContain('mongod');
  await server.stop();

  const after = await runHere('user', 'show', 'ada', '--json');
  expect(JSON.parse(after.stdout)).toMatchObject({ usage: { plants: 1 }, tokens: 1 });
  expect(await runningServers(dataDir)).toEqual([]);
});

test('SIGINT and SIGTERM end a command and its servers', async () => {
  const garden = ['--tier', 'pro', '--plants', '25', '--events', '2000000'];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const demo = start(['demo', '--user', 'ada', ...garden], { DATA_DIR: dataDir });
    await until(async () => (await runningServers(dataDir)).includes('mongod'));
    await untilManyAreInserted();
    // Twice, as when npm forwards a signal that the terminal has sent to the whole group.
    demo.process.kill(signal);
    demo.process.kill(signal);
    expect(await demo.ended).toEqual({ code: 1, stdout: '', stderr: 'Interrupted.\n' });
    // A server that was still starting may outlive the command briefly.
    await until(async () => (await runningServers(dataDir)).length === 0);
    expect(existsSync(path.join(dataDir, 'mongodb'))).toBe(true);
  }

  await whileServersRun(async () => {
    const [account] = records(JSON.parse((await runHere('user', 'list', '--json')).stdout));
    expect(record(account?.['usage'])['plants'] ?? 0).toBe(0);
    expect((await runHere('reconcile', '--check')).code).toBe(0);
  });
});
