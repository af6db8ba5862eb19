import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { mongo } from 'mongoose';

import { collectionOf } from '../../src/data/model/models';
import { collectionNames } from '../../src/data/mongodb/database-reader';
import { migrationModel } from '../../src/data/schema/migration';

/** More documents are dropped with their database faster than they are deleted. */
const MANY = 5000;

/** The URI of a new database. */
export function freshDatabase(): string {
  return addressOf(`test_${randomUUID().replaceAll('-', '')}`);
}

/**
 * The URI of an empty database. It reuses one that another test has given back, if there is one: to
 * create collections and indexes takes longer than most tests.
 */
export function takeDatabase(): string {
  for (const name of readdirSync(pool())) {
    try {
      unlinkSync(path.join(pool(), name));
      return addressOf(name);
    } catch {
      // Another test has just taken it.
    }
  }
  return freshDatabase();
}

/** Empties a database that is no longer used, for the next test that takes one. */
export async function giveBack(address: string): Promise<void> {
  const client = new mongo.MongoClient(address);
  try {
    await empty(client.db());
  } finally {
    await client.close();
  }
}

/**
 * Deletes all documents while a program uses the database. The program may have cached responses, so
 * do not use the name of an earlier user again.
 */
export async function removeAll(database: mongo.Db): Promise<void> {
  // First, because the first use of a token is recorded.
  await database.collection('tokens').deleteMany();
  const names = await collectionNames(database);
  const others = names.filter((name) => name !== MIGRATIONS);
  await Promise.all(others.map((name) => database.collection(name).deleteMany()));
}

async function empty(database: mongo.Db): Promise<void> {
  const names = await collectionNames(database);
  const collections = names
    .filter((name) => name !== MIGRATIONS)
    .map((name) => database.collection(name));
  const counts = await Promise.all(collections.map((each) => each.estimatedDocumentCount()));
  if (counts.reduce((sum, count) => sum + count, 0) > MANY) {
    await database.dropDatabase();
    return;
  }
  const filled = collections.filter((_, index) => counts[index] !== 0);
  await Promise.all(filled.map((each) => each.deleteMany()));
  writeFileSync(path.join(pool(), database.databaseName), '');
}

/** An empty database has been through all migrations. */
const MIGRATIONS = collectionOf(migrationModel);

function addressOf(name: string): string {
  const uri = new URL(process.env['TEST_MONGODB_URI'] ?? '');
  uri.pathname = `/${name}`;
  return uri.toString();
}

/** A folder with a file for each database that is free. */
function pool(): string {
  const folder = process.env['TEST_DATABASES'] ?? '';
  mkdirSync(folder, { recursive: true });
  return folder;
}
