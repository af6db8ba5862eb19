import { changeInChunks } from './chunks';
import type { Migration } from './migration';

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
