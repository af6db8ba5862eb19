import { setImmediate } from 'node:timers/promises';

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
export async function withTimeout<T>(ms: number, work: T | Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      resolve(setImmediate(undefined));
    }, ms).unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
