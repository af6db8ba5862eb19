import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Work of threads, for whose end the exit of a process waits, however long it takes. */
const THREAD_WORK = /^(FSReq|GetAddrInfo|GetNameInfo)/;
/** How long the last lines of the log, and work of threads, may take. */
const PATIENCE_MS = 500;
const CHECK_MS = 10;

/** How long before the end of its time a process exits by itself, and is killed where that hangs. */
const EXIT_MS = 500;
const KILL_MS = 200;

/** Ends the process, with an exit code of failure, within `ms`, whatever it waits for by then. */
export function exitWithin(ms: number): void {
  setTimeout(() => process.exit(1), ms - EXIT_MS).unref();
  // The main thread may hang.
  const script = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${ms - KILL_MS})`;
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
