import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Work of threads, for whose end the exit of a process waits, however long it takes. */
const THREAD_WORK = /^(FSReq|GetAddrInfo|GetNameInfo)/;
/** How long the last lines of the log, and work of threads, may take. */
const PATIENCE_MS = 500;
const CHECK_MS = 10;

/** Kills the process after `ms`, whatever its main thread waits for by then. */
export function killAfter(ms: number): void {
  const script = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${ms})`;
  new Worker(script, { eval: true }).unref();
}

/**
 * Waits a moment for what a process that ends now would lose, and kills it where its exit would
 * wait: for a disk, or a name server, that does not answer.
 */
export async function prepareExit(): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  const isBusy = () => process.stderr.writableLength > 0 || threadsAreBusy();
  while (isBusy() && performance.now() < deadline) await sleep(CHECK_MS);
  if (threadsAreBusy()) process.kill(process.pid, 'SIGKILL');
}

function threadsAreBusy(): boolean {
  return process.getActiveResourcesInfo().some((kind) => THREAD_WORK.test(kind));
}
