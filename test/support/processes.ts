import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type OwnServer = 'mongod' | 'redis';

const PID_FILES = { mongod: 'mongodb/mongod.lock', redis: 'redis/redis-server.lock' };

/** Waits until the answer is yes, for as long as that takes: only Jest has a limit. */
export async function until(ask: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  while (!(await ask())) await sleep(everyMs);
}

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== 'linux') return true;
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** The process of an own server of a data directory, where it runs. */
export function ownProcess(dataDir: string, server: OwnServer): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(path.join(dataDir, PID_FILES[server]), 'utf8'));
    return isAlive(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** A port on which nobody listens now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  server.close();
  await once(server, 'close');
  return port;
}

/** Kills a process like a crash does, and waits until it is gone. */
export async function kill(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
  await until(() => !isAlive(pid));
}
