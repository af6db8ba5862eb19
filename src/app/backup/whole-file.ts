import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { access, link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';

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
  const partial = `${file}.${randomUUID().slice(0, 8)}.partial`;
  const handle = await open(partial, 'wx', 0o600);
  // Flushes the content to disk before it closes.
  const output = handle.createWriteStream({ flush: true });
  const onExit = (): void => {
    rmSync(partial, { force: true });
  };
  process.once('exit', onExit);
  try {
    // The clock of a file system on another machine may differ.
    await removeStale(file, (await stat(partial)).mtimeMs);
    await write(output);
    const { size } = await stat(partial);
    await takeName(partial, file);
    return size;
  } finally {
    process.removeListener('exit', onExit);
    output.destroy();
    await rm(partial, { force: true });
  }
}

const PARTIAL = /^(.*)\.[0-9a-f]{8}\.partial$/;
/** Other programs may have files with such an ending. */
const DEFAULT_NAME = /^plant-care-.*\.tar\.gz$/;
/** Nobody writes a file that has not changed for so long: a backup writes every few seconds. */
const STALE_MS = 10 * 60_000;

/** Removes the unfinished files that killed processes, of whichever machine, left beside a file. */
async function removeStale(wanted: string, nowMs: number): Promise<void> {
  const folder = path.dirname(wanted);
  for (const name of await readdir(folder)) {
    const [, of] = PARTIAL.exec(name) ?? [];
    if (of === undefined || (of !== path.basename(wanted) && !DEFAULT_NAME.test(of))) continue;
    const file = path.join(folder, name);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: nowMs }));
    // That of a wrong clock may be in the future.
    if (Math.abs(nowMs - mtimeMs) < STALE_MS) continue;
    // One that belongs to somebody else must not stop the backup.
    await rm(file, { force: true }).catch(() => undefined);
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
