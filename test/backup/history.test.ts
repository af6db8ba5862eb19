import { mongo } from 'mongoose';

import type { Servers } from '../../src/servers';
import {
  DatabaseReader,
  acquireServers,
  databaseOf,
  dataDirectory,
  removeDataDirectory,
} from '../support/program';

let dataDir: string;
let servers: Servers;
let client: mongo.MongoClient;

beforeAll(async () => {
  dataDir = await dataDirectory();
  servers = await acquireServers({ dataDir }, { role: 'tool' });
  client = await new mongo.MongoClient(databaseOf(dataDir)).connect();
});
afterAll(async () => {
  await client.close();
  await servers.release();
  await removeDataDirectory(dataDir);
});

async function historySeconds(): Promise<unknown> {
  const name = 'minSnapshotHistoryWindowInSeconds';
  return (await client.db('admin').command({ getParameter: 1, [name]: 1 }))[name];
}

test('a managed MongoDB keeps a snapshot for as long as a backup reads it', async () => {
  const reader = await DatabaseReader.open(databaseOf(dataDir), true);
  expect(await historySeconds()).toBe(86_400);
  await reader.close();
  expect(await historySeconds()).toBe(300);
});
