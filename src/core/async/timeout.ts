import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

/**
 * What work comes to; undefined where it takes longer than so many milliseconds. What has arrived
 * by then is read first: the process may have been busy all the while.
 *
 * @throws what the work throws in time
 */
export function withTimeout<T>(ms: number, work: T | Promise<T>): Promise<T | undefined> {
  const late = sleep(ms, undefined, { ref: false }).then(() => setImmediate(undefined));
  return Promise.race([work, late]);
}
