import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { mongo } from 'mongoose';

import { CommandLine } from '../cli/run';
import { freshDatabase, laterPlugins, startService } from '../support/program';

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
  const later = new CommandLine(uri, {}, laterPlugins());
  return { uri, db: client.db(), cli: new CommandLine(uri), later };
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

test('the backup made before an upgrade restores the data of the previous release', async () => {
  const old = newDatabase();
  const service = await startService({ mongodbUri: old.uri });
  const user = await service.user();
  await user.event((await user.plant()).id);
  await service.close();
  const before = await dataOf(old.db);

  const file = path.join(folder, 'before.tar.gz');
  expect(await old.later.json('backup', 'create', file)).toMatchObject({ file });
  expect(await dataOf(old.db)).toEqual(before);
  expect((await old.later.run('migrate', 'up')).code).toBe(0);
  expect(await dataOf(old.db)).not.toEqual(before);

  const back = newDatabase();
  expect(await back.later.text('backup', 'restore', file)).toMatch(/from an earlier release/);
  expect(await dataOf(back.db)).toEqual(before);
  const refused = await back.later.run('user', 'show', user.id);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/^The data is from an earlier release: [^\n]+\n$/);
  expect(await dataOf(back.db)).toEqual(before);
  // And forward again.
  expect((await back.later.run('migrate', 'up')).code).toBe(0);
  expect(await dataOf(back.db)).toEqual(await dataOf(old.db));
});
