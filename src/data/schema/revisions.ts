import type { mongo } from 'mongoose';

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
    run: async (run) => {
      const documents = run.collection(collection);
      // What it has saved itself, where it has saved anything.
      let position = run.position as mongo.ObjectId | null | undefined;
      for (;;) {
        const after = position ? { $gt: position } : {};
        // In the order of ids, of which MongoDB keeps an index.
        const chunk = await documents
          .find(position ? { _id: after } : {}, { projection: { _id: 1 } })
          .sort({ _id: 1 })
          .limit(CHUNK)
          .toArray();
        position = chunk.at(-1)?._id;
        if (!position) return;
        await documents.updateMany(
          { _id: { ...after, $lte: position }, revision: { $exists: false } },
          { $set: { revision: 0 } },
        );
        await run.save(position, chunk.length);
      }
    },
  };
}
