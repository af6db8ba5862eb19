import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns the result of work, or undefined if it takes longer than `ms`. Responses that have arrived by
 * then are read first, since the process may have been busy.
 *
 * @throws what the work throws in time
 */
export function withTimeout<T>(ms: number, work: T | Promise<T>): Promise<T | undefined> {
  const late = sleep(ms, undefined, { ref: false }).then(() => setImmediate(undefined));
  return Promise.race([work, late]);
}
