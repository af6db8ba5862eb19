import { createHash, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { access, link, open, readdir, readlink, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import type { Writable } from 'node:stream';

import { HOUR_MS } from '../../core/time';
import { codeOf } from '../../core/values';
import { BackupError } from './errors';

/** The errors of file systems without hard links, such as exFAT and some network mounts. */
const NO_LINKS = new Set<unknown>(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Creates a file atomically: it gets its name only once it is complete and flushed to disk, so that a
 * crash leaves nothing under that name. Only its owner may read it.
 *
 * @param write writes the content to a stream and ends it
 * @returns the size in bytes
 * @throws BackupError if a file of that name exists
 */
export async function makeWholeFile(
  file: string,
  write: (output: Writable) => Promise<void>,
): Promise<number> {
  await refuseExisting(file);
  const folder = path.dirname(file);
  await removeStale(folder);
  const writer = `${await machine()}-${process.pid}`;
  const partial = `${file}.${writer}-${randomUUID().slice(0, 8)}.partial`;
  own.add(path.basename(partial));
  const handle = await open(partial, 'wx', 0o600);
  // Flushes the content to disk before it closes.
  const output = handle.createWriteStream({ flush: true });
  const onExit = (): void => {
    rmSync(partial, { force: true });
  };
  process.once('exit', onExit);
  try {
    await write(output);
    const { size } = await stat(partial);
    await takeName(partial, file);
    return size;
  } finally {
    process.removeListener('exit', onExit);
    output.destroy();
    await rm(partial, { force: true });
    own.delete(path.basename(partial));
  }
}

/** The unfinished files that this process writes. */
const own = new Set<string>();
const PARTIAL = /\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.partial$/;
/** Nobody writes a file that has not changed for so long, even if its process cannot be seen from here. */
const STALE_MS = 24 * HOUR_MS;

/** Removes the unfinished files of killed processes. */
async function removeStale(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, where, pid] = PARTIAL.exec(name) ?? [];
    if (where === undefined || own.has(name)) continue;
    const file = path.join(folder, name);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }));
    const isOver = where === (await machine()) && !isRunning(Number(pid));
    if (isOver || Date.now() - mtimeMs > STALE_MS) await rm(file, { force: true });
  }
}

/** Identifies the machine or container whose process ids this process sees. */
async function machine(): Promise<string> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
  return createHash('sha256').update(`${hostname()} ${namespace}`).digest('hex').slice(0, 8);
}

/** Whether a process other than this one has this id. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Renames the file atomically, so that only one of two processes gets the name. */
async function takeName(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file);
  } catch (error) {
    await refuseExisting(file);
    if (!NO_LINKS.has(codeOf(error))) throw error;
    await rename(partial, file);
  }
  const folder = await open(path.dirname(file));
  try {
    // Flushes the name to disk.
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function refuseExisting(file: string): Promise<void> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (isThere) {
    throw new BackupError(`${file} already exists: choose another name, or move it away.`);
  }
}
