import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

let last: Promise<unknown> = Promise.resolve();

/**
 * Waits for a turn of the event loop that no other caller shares. Called before work that takes
 * milliseconds, so that other requests are served between such pieces, however many wait.
 */
export async function yieldToEventLoop(): Promise<void> {
  last = last.then(() => setImmediate());
  await last;
}

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
