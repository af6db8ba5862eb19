import { randomUUID } from 'node:crypto';
import { readdir, readlink, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, ServersError } from './errors';
import { isAlive, self, type ProcessRef } from './processes';

// Long enough for a slow network to fetch MongoDB in the program that holds the lock.
const PATIENCE_MS = 10 * 60_000;
const FREE = 'free';

export interface Waiting {
  /** Told once, of the process that holds the lock, when it takes long. */
  onWait?: (pid: number) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Runs `work` while no other program does so in the same folder. Nobody has to clean up after a
 * program that was killed inside.
 *
 * Each holder makes a symbolic link with the next number, whose target names the holder; making one
 * is atomic and fails when it exists. The next number may be taken once the highest is free or its
 * holder is dead, and the highest is never removed, so that the dead one's place cannot be taken twice.
 */
export async function withLock<T>(
  folder: string,
  work: () => Promise<T>,
  waiting: Waiting = {},
): Promise<T> {
  const place = await acquire(folder, waiting);
  try {
    return await work();
  } finally {
    await release(folder, place);
  }
}

async function acquire(folder: string, { onWait, signal }: Waiting): Promise<number> {
  const owner = JSON.stringify({ ...self(), id: randomUUID() });
  const start = performance.now();
  let told = false;
  for (;;) {
    const highest = Math.max(0, ...(await places(folder)));
    const holder = await holderOf(folder, highest);
    if (holder === undefined) {
      if (await take(folder, highest + 1, owner)) return highest + 1;
      continue;
    }
    const waited = performance.now() - start;
    if (waited > PATIENCE_MS) {
      throw new ServersError(
        `Process ${holder.pid} has been starting or stopping the servers of ${folder} for too long.`,
      );
    }
    if (waited > 3_000 && !told) {
      told = true;
      onWait?.(holder.pid);
    }
    await sleep(20 + Math.random() * 20, undefined, { signal });
  }
}

async function take(folder: string, place: number, owner: string): Promise<boolean> {
  try {
    await symlink(owner, join(folder, String(place)));
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  const all = await places(folder);
  // A slow program may make a number again that was used and removed: then a higher one exists.
  const outdated = all.some((other) => other > place);
  await Promise.all(
    all
      .filter((other) => other < place || (outdated && other === place))
      .map(async (other) => remove(folder, other)),
  );
  return !outdated;
}

async function release(folder: string, place: number): Promise<void> {
  // It fails when the disk is full, or the data directory was deleted; removing the own place then
  // frees it as well, though two programs that come at this very moment could both take it.
  await symlink(FREE, join(folder, String(place + 1))).catch(() => undefined);
  await remove(folder, place);
}

async function places(folder: string): Promise<number[]> {
  return (await readdir(folder)).map(Number).filter(Number.isInteger);
}

async function remove(folder: string, place: number): Promise<void> {
  try {
    await unlink(join(folder, String(place)));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** The living holder of a place; undefined when it is free. */
async function holderOf(folder: string, place: number): Promise<ProcessRef | undefined> {
  if (place === 0) return undefined;
  let target: string;
  try {
    target = await readlink(join(folder, String(place)));
  } catch (error) {
    // Removed since the listing: there is a higher one, which taking this one's successor will show.
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (target === FREE) return undefined;
  // Written by acquire() and by nothing else.
  const holder = JSON.parse(target) as ProcessRef;
  return isAlive(holder) ? holder : undefined;
}
