import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, type Stats } from 'node:fs';
import { chown, readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../core/values';

const LOCK = 'lock';
const UNPUBLISHED = '.new';

/** Receives what takes long, in lines for a person, such as "Fetching MongoDB (42 MB) …". */
export type Progress = (line: string) => void;
/** The user and group for whom root works. */
export type Owner = Pick<Stats, 'uid' | 'gid'>;

/** Whether a process listens on a socket; only one that is missing or that refuses has none. */
export async function answers(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath);
  const refusal = await once(socket, 'connect').then(() => undefined, codeOf);
  socket.destroy();
  return refusal !== 'ECONNREFUSED' && refusal !== 'ENOENT';
}

/** A listening socket, which answers as long as a process lives that holds it. */
export interface Lease {
  path: string;
  server: Server;
}

/** Ends a lease at once, so that also a process that exits can. */
export function release({ path: socketPath, server }: Lease): void {
  rmSync(socketPath, { force: true });
  server.close();
}

/**
 * Who uses what in a data directory: a folder of listening sockets. The kernel ends a lease with the
 * last process that holds it, however that ended, so a killed program leaves nothing in the way.
 * Unlike a process id a socket means the same in every process and network namespace, and in a copy
 * of the folder it is dead.
 */
export class Leases {
  constructor(
    readonly folder: string,
    readonly owner: Owner | undefined,
  ) {}

  /** Takes a lease; any number of them may have the same name. */
  async take(name: string): Promise<Lease> {
    const id = randomUUID().slice(0, 8);
    const unpublished = path.join(this.folder, `${UNPUBLISHED}.${id}`);
    const published = path.join(this.folder, `${name}.${id}`);
    const server = createServer((socket) => socket.destroy()).unref();
    server.listen(unpublished);
    await once(server, 'listening');
    try {
      // Who may not write to a socket cannot ask whether it answers.
      if (this.owner !== undefined) await chown(unpublished, this.owner.uid, this.owner.gid);
      // Only now, because a socket refuses also between its making and its listening.
      await rename(unpublished, published);
      return { path: published, server };
    } catch (error) {
      server.close();
      if (codeOf(error) !== 'ENOENT') throw error;
      // In that very moment another program took it for what a killed one left, and removed it.
      return this.take(name);
    }
  }

  /** The paths of the living leases whose names begin like this; dead ones are removed. */
  async living(prefix: string): Promise<string[]> {
    const living: string[] = [];
    for (const name of await readdir(this.folder)) {
      if (!name.startsWith(prefix) && !name.startsWith(UNPUBLISHED)) continue;
      const lease = path.join(this.folder, name);
      if (!(await answers(lease))) await rm(lease, { force: true });
      else if (name.startsWith(prefix)) living.push(lease);
    }
    return living;
  }

  /**
   * Runs `work` while no other program does so. Who finds no lock takes one and looks again: of two
   * that take theirs at once, the later to look sees the other's, and withdraws for a moment.
   */
  async withLock<T>(work: () => Promise<T>, progress: Progress, signal?: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      if ((await this.living(LOCK)).length === 0) {
        const lock = await this.take(LOCK);
        try {
          if ((await this.living(LOCK)).length === 1) return await work();
        } finally {
          release(lock);
        }
      }
      // About three seconds.
      if (attempt === 200) progress('Waiting for another program to start or stop the servers …');
      await sleep(5 + Math.random() * 20, undefined, { signal });
    }
  }
}
