import { once } from 'node:events';

import type { mongo, Query } from 'mongoose';

import { yieldToEventLoop } from '../../core/async';

/** Documents in a batch: enough for most lists, and a few megabytes of the largest documents. */
const BATCH = 64;
/** How many are decoded together: half a millisecond for the largest documents. */
const DECODED = 10;
/** How long documents are decoded before the event loop gets a turn. */
const TURN_MS = 0.5;

/**
 * Yields the results of a query as plain objects, a batch at a time; no more than a batch is in memory.
 *
 * It reads the driver's cursor, which Mongoose's emits, since that takes ten times as long for each
 * document.
 */
export async function* batchesOf<T>(
  query: Query<unknown, unknown, unknown, T>,
  batchSize = BATCH,
): AsyncGenerator<T[]> {
  // Mongoose's cursor would not throw errors of casting here.
  query.cast();
  // The event has the driver's cursor.
  const [cursor] = (await once(query.cursor({ batchSize }), 'cursor')) as [mongo.FindCursor<T>];
  try {
    while (await cursor.hasNext()) yield await decoded(cursor);
  } finally {
    await cursor.close();
  }
}

/** Decodes the documents that the cursor has fetched, up to a batch, and yields to the event loop. */
async function decoded<T>(cursor: mongo.FindCursor<T>): Promise<T[]> {
  const records: T[] = [];
  let begun = performance.now();
  while (cursor.bufferedCount() > 0 && records.length < BATCH) {
    if (performance.now() - begun > TURN_MS) {
      await yieldToEventLoop();
      begun = performance.now();
    }
    records.push(...cursor.readBufferedDocuments(DECODED));
  }
  return records;
}
