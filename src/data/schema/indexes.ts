import { isDeepStrictEqual } from 'node:util';

import { mongo } from 'mongoose';

import type { AnyModel } from '../model/models';

type Key = mongo.IndexDescription['key'];

/** The difference between the indexes of a collection and those that its model declares. */
export interface IndexDifference {
  model: AnyModel;
  /** Declared indexes that the collection does not have. */
  missing: mongo.IndexDescription[];
  /** Names of indexes that the model does not declare, or declares with other options. */
  obsolete: string[];
}

/** Compares the indexes of an existing collection with those that its model declares. */
export async function indexDifference(model: AnyModel): Promise<IndexDifference> {
  const { toCreate, toDrop } = await model.diffIndexes({ indexOptionsToCreate: true });
  // With this option `diffIndexes` returns pairs.
  const missing = (toCreate as [Key, Omit<mongo.IndexDescription, 'key'>][]).map(
    ([key, options]) => ({ ...options, key }),
  );
  const obsolete: string[] = [];
  const declared = model.schema.indexes().map(([fields]) => fields);
  // A sharded cluster needs it, and creates it with the collection.
  const shardKey = model.schema.get('shardKey');
  for (const { name, key, expireAfterSeconds } of toDrop.length > 0 ? await indexesOf(model) : []) {
    const isDeclared = declared.some((each) => isDeepStrictEqual(each, key));
    // Expiry may depend on a setting; `Database.expire` creates those indexes.
    const isOfOthers = expireAfterSeconds !== undefined || isDeepStrictEqual(key, shardKey);
    if (toDrop.includes(name) && (isDeclared || !isOfOthers)) obsolete.push(name);
  }
  return { model, missing, obsolete };
}

function indexesOf(model: AnyModel): Promise<(mongo.IndexDescriptionInfo & { name: string })[]> {
  // MongoDB names each.
  return model.collection.indexes() as Promise<(mongo.IndexDescriptionInfo & { name: string })[]>;
}

/** Drops obsolete indexes, then creates missing ones. */
export async function updateIndexes(
  { model, missing, obsolete }: IndexDifference,
  progress: (line: string) => void,
): Promise<void> {
  const { collection } = model;
  for (const name of obsolete) {
    progress(`Dropping the index ${name} of ${collection.name}`);
    await collection.dropIndex(name);
  }
  if (missing.length === 0) return;
  for (const index of missing) {
    progress(`Creating the index on ${nameOf(index)} of ${collection.name}`);
  }
  // Together, so that MongoDB reads the documents once.
  await whenDone(() => collection.createIndexes(missing));
}

/** The name of an index for people. */
export function nameOf({ key }: mongo.IndexDescription): string {
  return Object.keys(key).join(', ');
}

/** Waits for indexes that take longer than a command may. */
async function whenDone(create: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await create();
      return;
    } catch (error) {
      // MongoDB continues, and the next command returns when it is done.
      if (!(error instanceof mongo.MongoNetworkTimeoutError)) throw error;
    }
  }
}
