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
