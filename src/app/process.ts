import { setFlagsFromString } from 'node:v8';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/**
 * How far the heap may grow before a garbage collection, in percent of the live objects. V8's default
 * lets a small heap grow to four times its size, which takes 100 MB more under load; 40 would cost a
 * tenth of the uncached requests per second.
 */
const GROWTH_PERCENT = 50;

/**
 * Limits how much garbage the heap may hold. The young generation can be limited only by a flag when
 * Node starts, which `npm start` and deploy/ set, because Node 24 doubled it.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/** Work in Node's thread pool. A process does not exit before it ends. */
const THREAD_WORK = /^(FSReq|GetAddrInfo|GetNameInfo)/;
/** How long the last log lines and thread work may take. */
const PATIENCE_MS = 500;
const CHECK_MS = 10;

/** How long before its deadline the process exits, and is killed if the exit hangs. */
const EXIT_MS = 500;
const KILL_MS = 200;

/** Ends the process within `ms` with exit code 1, whatever it is waiting for. */
export function exitWithin(ms: number): void {
  setTimeout(() => process.exit(1), ms - EXIT_MS).unref();
  // In a worker, because the main thread may hang.
  const script = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${ms - KILL_MS})`;
  new Worker(script, { eval: true }).unref();
}

/**
 * Waits briefly for the last log lines, and kills the process if its exit would hang on a disk or a
 * name server that does not respond.
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
