import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type OwnServer = 'mongod' | 'redis';

const PID_FILES = { mongod: 'mongodb/mongod.lock', redis: 'redis/redis-server.lock' };

/** Waits until a condition holds; only Jest has a time-out. */
export async function until(ask: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  while (!(await ask())) await sleep(everyMs);
}

/** Whether a process is running; a zombie is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== 'linux') return true;
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** The process id of a managed server of a data directory, if it is running. */
export function ownProcess(dataDir: string, server: OwnServer): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(path.join(dataDir, PID_FILES[server]), 'utf8'));
    return isAlive(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** A free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  server.close();
  await once(server, 'close');
  return port;
}

/** Kills a process, and waits until it has ended. */
export async function kill(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
  await until(() => !isAlive(pid));
}
