import { mongo } from 'mongoose';

import { DatabaseReader } from '../../src/data/database-reader';
import { until } from '../support/processes';
import { databaseOf, dataDirectory, RealServer, removeDataDirectory } from '../support/real-server';

let dataDir: string;
let server: RealServer;
let client: mongo.MongoClient;

beforeEach(async () => {
  dataDir = await dataDirectory();
  server = await RealServer.start(dataDir);
  client = await new mongo.MongoClient(databaseOf(dataDir)).connect();
});
afterEach(async () => {
  await client.close();
  await server.kill();
  await removeDataDirectory(dataDir);
});

async function historySeconds(): Promise<unknown> {
  const name = 'minSnapshotHistoryWindowInSeconds';
  return (await client.db('admin').command({ getParameter: 1, [name]: 1 }))[name];
}

test('an own MongoDB keeps the past for as long as any backup reads it', async () => {
  const uri = databaseOf(dataDir);
  const first = await DatabaseReader.open(uri, true);
  const second = await DatabaseReader.open(uri, true);
  await first.close();
  expect(await historySeconds()).toBe(86_400);
  await second.close();
  expect(await historySeconds()).toBe(300);
});

test('a server starts with the past kept as briefly as by default, whatever was killed', async () => {
  await client.db('admin').command({ setParameter: 1, minSnapshotHistoryWindowInSeconds: 86_400 });
  server.process.kill('SIGKILL');
  await server.ended;
  server = await RealServer.start(dataDir);
  expect(await until(async () => (await historySeconds()) === 300, { within: 5000 })).toBe(true);
});
