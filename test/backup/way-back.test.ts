import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { mongo } from 'mongoose';

import { CommandLine } from '../cli/run';
import { aGarden, oldData } from '../support/old-data';
import { freshDatabase, startService, userOf } from '../support/program';

/** The program's own records beside people's data. */
const NOTES = ['auditEntries', 'auditHeads', 'deletions', 'leases', 'logKeys', 'migrations'];

let folder: string;
const clients: mongo.MongoClient[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'way-back-'));
});
afterAll(async () => {
  for (const client of clients) {
    await client.db().dropDatabase();
    await client.close();
  }
  await rm(folder, { recursive: true, force: true });
});

function newDatabase() {
  const uri = freshDatabase();
  const client = new mongo.MongoClient(uri);
  clients.push(client);
  return { uri, db: client.db(), cli: new CommandLine(uri) };
}

/** All data of people, by collection; a restore raises the revisions of accounts. */
async function dataOf(db: mongo.Db): Promise<Record<string, unknown[]>> {
  const data: Record<string, unknown[]> = {};
  for (const { collectionName } of await db.collections()) {
    if (NOTES.includes(collectionName)) continue;
    const projection = collectionName === 'accounts' ? { revision: 0 } : {};
    const found = await db
      .collection(collectionName)
      .find({}, { projection })
      .sort({ _id: 1 })
      .toArray();
    if (found.length > 0) data[collectionName] = found;
  }
  return data;
}

test('the backup made before an upgrade restores the data of the earlier release', async () => {
  const old = newDatabase();
  const user = await oldData(old, aGarden);
  const before = await dataOf(old.db);
  const indexes = await old.db.collection('events').indexes();
  expect(before['events']?.[0]).not.toHaveProperty('revision');

  const file = path.join(folder, 'before.tar.gz');
  expect(await old.cli.json('backup', 'create', file)).toMatchObject({ file });
  expect(await dataOf(old.db)).toEqual(before);
  expect(await old.db.collection('events').indexes()).toEqual(indexes);
  expect(await old.db.listCollections({ name: 'migrations' }).toArray()).toEqual([]);

  expect((await old.cli.run('migrate', 'up')).code).toBe(0);
  const upgraded = await startService({ mongodbUri: old.uri });
  await userOf(upgraded.url, user.id, user.token).plant({ name: 'Moss' });
  await upgraded.close();
  expect(await dataOf(old.db)).not.toEqual(before);

  const back = newDatabase();
  expect(await back.cli.text('backup', 'restore', file)).toMatch(/from an earlier release/);
  expect(await dataOf(back.db)).toEqual(before);
  const refused = await back.cli.run('user', 'show', user.id);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/^The data is from an earlier release: [^\n]+\n$/);
  expect(await dataOf(back.db)).toEqual(before);
  // And forward again.
  expect((await back.cli.run('migrate', 'up')).code).toBe(0);
  expect(await back.cli.json('reconcile', '--check')).toMatchObject({ differences: [] });
});
