import type { mongo } from 'mongoose';

import { changeInChunks } from './chunks';
import type { Migration, MigrationRun } from './migration';

/** Documents changed by one command: few enough for one that may not take long. */
const CHUNK = 5000;

/**
 * A migration after which records that were there before their changes were tracked carry a
 * revision: 0, since none of them has changed in anybody's copy.
 */
export function addRevisions(name: string, collection: string): Migration {
  return {
    name,
    besideOlder: false,
    run: async (run) => {
      const documents = run.collection(collection);
      await changeInChunks(run, documents, { size: CHUNK }, (_chunk, ids) =>
        documents.updateMany({ _id: ids, revision: { $exists: false } }, { $set: { revision: 0 } }),
      );
    },
  };
}

/** A new revision of an account, for a record that a migration changes and copies of it must get again. */
export async function nextRevision(run: MigrationRun, userId: string): Promise<number> {
  // Of accounts the id is their name.
  const accounts = run.collection('accounts') as unknown as mongo.Collection<AccountDocument>;
  const update = { $inc: { revision: 1 } };
  const options = { returnDocument: 'after', projection: { revision: 1 } } as const;
  const account = await accounts.findOneAndUpdate({ _id: userId }, update, options);
  // What was left of an account that was deleted nobody has a copy of.
  return account?.revision ?? 0;
}

interface AccountDocument {
  _id: string;
  revision: number;
}
