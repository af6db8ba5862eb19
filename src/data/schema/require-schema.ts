import { setTimeout as sleep } from 'node:timers/promises';

import { SchemaError } from './migration';
import type { StoredSchema } from './stored-schema';

/** How long a command waits for a server that prepares the data. */
const MAX_WAIT_MS = 10_000;
const RETRY_MS = 100;

/**
 * Checks that the data fits this release, without migrating it; waits for a server that starts. An empty
 * database is prepared.
 *
 * @param options.reads whether an empty database stays empty
 * @throws SchemaError if the data does not fit
 */
export async function requireSchema(schema: StoredSchema, { reads = false } = {}): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (;;) {
    // Read first, since the update may end before the next line.
    const isBeingUpdated = await schema.isBeingUpdated();
    const { isNew, pending, collections, indexes } = await schema.status();
    // Obsolete indexes do no harm.
    const missing = indexes.flatMap((each) => each.missing);
    if (pending.length + collections.length + missing.length === 0) return;
    if (isBeingUpdated && performance.now() < deadline) {
      await sleep(RETRY_MS);
      continue;
    }
    if (isBeingUpdated) {
      throw new SchemaError(
        'A server is starting and prepares the data: run the command again once it is ready.',
      );
    }
    if (!isNew) {
      throw new SchemaError(
        'The data is from an earlier release: to migrate it, start the server or run `migrate up`.',
      );
    }
    if (!reads) await schema.update(() => undefined);
    return;
  }
}
