import type { mongo } from 'mongoose';

import type { MigrationRun, StoredDocument } from './migration';

/** A filter for the ids of a chunk. */
interface IdRange {
  $gte: mongo.UUID;
  $lte: mongo.UUID;
}

/**
 * Changes the documents of a collection by id, a chunk at a time, and saves the position after each.
 *
 * @param change may get the same chunk again after a crash
 */
export async function changeInChunks(
  run: MigrationRun,
  documents: mongo.Collection<StoredDocument>,
  size: number,
  change: (ids: IdRange) => Promise<unknown>,
): Promise<void> {
  // Saved below.
  let position = run.position as mongo.UUID | null | undefined;
  const total = await documents.estimatedDocumentCount();
  for (;;) {
    const chunk = await documents
      .find(position ? { _id: { $gt: position } } : {}, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(size)
      .toArray();
    const [first] = chunk;
    const last = chunk.at(-1);
    if (!first || !last) return;
    await change({ $gte: first._id, $lte: last._id });
    position = last._id;
    await run.save(position, chunk.length, total);
  }
}
