import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { access, link, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';

import { codeOf } from '../../core/values';
import { BackupError } from './errors';

/** How file systems say that a file has one name only, as exFAT and some network mounts do. */
const NO_LINKS = new Set<unknown>(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** The end of the name of a file that is not whole yet. */
export const PARTIAL = '.partial';

/**
 * Makes a file that gets its name only once it is whole and on the disk; whatever ends the program
 * before leaves nothing under that name. Only its owner may read it.
 *
 * @param write writes all of it to a stream that it ends
 * @param partial its path until then, which must be in the same folder and not be there yet
 * @returns its size in bytes
 * @throws BackupError where there is a file of that name
 */
export async function makeWholeFile(
  file: string,
  write: (output: Writable) => Promise<void>,
  partial = `${file}.${randomUUID().slice(0, 8)}${PARTIAL}`,
): Promise<number> {
  await refuseExisting(file);
  const handle = await open(partial, 'wx', 0o600);
  const { ino } = await handle.stat();
  // It is on the disk when it is closed.
  const output = handle.createWriteStream({ flush: true });
  // Another program removes what it takes for left by a killed one.
  const isThere = async (): Promise<boolean> =>
    (await stat(partial).catch(() => undefined))?.ino === ino;
  const onExit = (): void => {
    rmSync(partial, { force: true });
  };
  process.once('exit', onExit);
  try {
    await write(output);
    const { size } = await stat(partial);
    if (!(await isThere())) throw new BackupError('Another backup has begun.');
    await takeName(partial, file);
    return size;
  } finally {
    process.removeListener('exit', onExit);
    output.destroy();
    if (await isThere()) await rm(partial, { force: true });
  }
}

/** In one step, so that of two programs only one gets the name. */
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
    // Only then the name is on the disk as well.
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
    throw new BackupError(`${file} exists already: choose another name, or move it away.`);
  }
}
