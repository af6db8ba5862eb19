import { isDeepStrictEqual } from 'node:util';

import { mongo } from 'mongoose';

import type { AnyModel } from '../model/models';

/** An index that a model declares and its collection does not have. */
interface MissingIndex {
  fields: mongo.IndexSpecification & object;
  options: mongo.CreateIndexesOptions;
}

/** How the indexes of a collection differ from those that its model declares. */
export interface IndexDifference {
  model: AnyModel;
  missing: MissingIndex[];
  /** Names of those that the model does not declare, or declares otherwise. */
  obsolete: string[];
}

/** How the indexes of a model's collection, which is there, differ from what it declares. */
export async function indexDifference(model: AnyModel): Promise<IndexDifference> {
  const { toCreate, toDrop } = await model.diffIndexes({ indexOptionsToCreate: true });
  // So `diffIndexes` answers them under this option.
  const missing = (toCreate as [MissingIndex['fields'], MissingIndex['options']][]).map(
    ([fields, options]) => ({ fields, options }),
  );
  const obsolete: string[] = [];
  const declared = model.schema.indexes().map(([fields]) => fields);
  for (const { name, key, expireAfterSeconds } of toDrop.length > 0 ? await indexesOf(model) : []) {
    // After how long something expires may be a setting, which `Database.expire` goes by.
    const isExpiry =
      expireAfterSeconds !== undefined && !declared.some((each) => isDeepStrictEqual(each, key));
    if (toDrop.includes(name) && !isExpiry) obsolete.push(name);
  }
  return { model, missing, obsolete };
}

function indexesOf(model: AnyModel): Promise<(mongo.IndexDescriptionInfo & { name: string })[]> {
  // MongoDB names each.
  return model.collection.indexes() as Promise<(mongo.IndexDescriptionInfo & { name: string })[]>;
}

/** Drops what is obsolete, then makes what is missing. */
export async function updateIndexes(
  { model, missing, obsolete }: IndexDifference,
  progress: (line: string) => void,
): Promise<void> {
  const { collection } = model;
  for (const name of obsolete) {
    progress(`Dropping the index ${name} of ${collection.name}`);
    await collection.dropIndex(name);
  }
  for (const { fields, options } of missing) {
    progress(`Making the index on ${nameOf({ fields })} of ${collection.name}`);
    await whenDone(() => collection.createIndex(fields, options, {}));
  }
}

/** How an index is called in what people read. */
export function nameOf({ fields }: Pick<MissingIndex, 'fields'>): string {
  return Object.keys(fields).join(', ');
}

/** One that takes longer than a command is waited for. */
async function whenDone(create: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await create();
      return;
    } catch (error) {
      // MongoDB goes on, and answers the next command when it is done.
      if (!(error instanceof mongo.MongoNetworkTimeoutError)) throw error;
    }
  }
}
