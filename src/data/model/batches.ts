import { once } from 'node:events';

import type { mongo, Query } from 'mongoose';

import { yieldToEventLoop } from '../../core/async/event-loop';

/** Records fetched at once: enough for most lists, and few megabytes of the largest records. */
const BATCH = 64;
/** How many of them are decoded together: of the largest records it takes half a millisecond. */
const DECODED = 10;
/** For how long they are decoded until others get their turn. */
const TURN_MS = 0.5;

/**
 * All that a query finds as plain objects, few at a time: no more than is fetched at once is held,
 * however many there are.
 *
 * Mongoose's cursor takes as long for each document as MongoDB's driver for ten of them; so the
 * driver's is read, which Mongoose's emits.
 */
export async function* batchesOf<T>(
  query: Query<unknown, unknown, unknown, T>,
  batchSize = BATCH,
): AsyncGenerator<T[]> {
  // Mongoose's cursor keeps what is wrong with the query for its own readers.
  query.cast();
  // The event carries the driver's cursor.
  const [cursor] = (await once(query.cursor({ batchSize }), 'cursor')) as [mongo.FindCursor<T>];
  try {
    while (await cursor.hasNext()) yield await decoded(cursor);
  } finally {
    await cursor.close();
  }
}

/** The next records that a cursor holds, not more than a batch; others get their turn meanwhile. */
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
