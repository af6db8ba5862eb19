import type { mongo } from 'mongoose';

import { changeInChunks } from './chunks';
import type { Migration, MigrationRun } from './migration';

/** Documents changed by one command. */
const CHUNK = 5000;

/** A migration that adds the revision 0 to records from before their changes were tracked. */
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

/** Increments the revision of an account, for a record that a migration changes. */
export async function nextRevision(run: MigrationRun, userId: string): Promise<number> {
  // The ids of accounts are names, not UUIDs.
  const accounts = run.collection('accounts') as unknown as mongo.Collection<AccountDocument>;
  const update = { $inc: { revision: 1 } };
  const options = { returnDocument: 'after', projection: { revision: 1 } } as const;
  const account = await accounts.findOneAndUpdate({ _id: userId }, update, options);
  // No client has a copy of a deleted account.
  return account?.revision ?? 0;
}

interface AccountDocument {
  _id: string;
  revision: number;
}
