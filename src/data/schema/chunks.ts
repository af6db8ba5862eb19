import type { mongo } from 'mongoose';

import type { MigrationRun, StoredDocument } from './migration';

/** The ids of a chunk, in a filter. */
interface IdRange {
  $gte: mongo.UUID;
  $lte: mongo.UUID;
}

/**
 * Changes the documents of a collection in the order of their ids, of which MongoDB keeps an index,
 * so many at a time, and saves how far it has come after each time.
 *
 * @param options.projection what of them is read beside their ids
 * @param change may get the same ones again after a crash
 */
export async function changeInChunks(
  run: MigrationRun,
  documents: mongo.Collection<StoredDocument>,
  { size, projection = {} }: { size: number; projection?: Readonly<Record<string, 1>> },
  change: (chunk: readonly StoredDocument[], ids: IdRange) => Promise<unknown>,
): Promise<void> {
  // What it has saved itself, where it has saved anything.
  let position = run.position as mongo.UUID | null | undefined;
  const total = await documents.estimatedDocumentCount();
  for (;;) {
    const chunk = await documents
      .find(position ? { _id: { $gt: position } } : {}, { projection: { ...projection, _id: 1 } })
      .sort({ _id: 1 })
      .limit(size)
      .toArray();
    const [first] = chunk;
    const last = chunk.at(-1);
    if (!first || !last) return;
    await change(chunk, { $gte: first._id, $lte: last._id });
    position = last._id;
    await run.save(position, chunk.length, total);
  }
}
