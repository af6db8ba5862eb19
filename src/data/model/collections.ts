import type { mongo } from 'mongoose';

/** The names of the collections of a database, without views and MongoDB's own. */
export async function collectionNames(database: mongo.Db): Promise<string[]> {
  const listed = await database.listCollections({ type: 'collection' }).toArray();
  return listed.map(({ name }) => name).filter((name) => !name.startsWith('system.'));
}
