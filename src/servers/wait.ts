import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  /** For how long, in milliseconds, to go on asking. */
  within: number;
  /** The pause between two questions, in milliseconds. */
  every?: number;
  signal?: AbortSignal | undefined;
}

/** Asks until the answer is yes: true, or false once patience is over. */
export async function until(
  ask: () => boolean | Promise<boolean>,
  { within, every = 20, signal }: Patience,
): Promise<boolean> {
  const deadline = performance.now() + within;
  for (;;) {
    signal?.throwIfAborted();
    if (await ask()) return true;
    if (performance.now() >= deadline) return false;
    await sleep(every, undefined, { signal });
  }
}
