import { statSync } from 'node:fs';
import { mkdir, stat, statfs } from 'node:fs/promises';
import path from 'node:path';

import { PROJECT } from './settings/project';
import { codeOf } from './values';

/** How many bytes are free on the disk of a folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** A file or folder, where it is there; else the nearest folder above that is. */
export function nearestExisting(file: string): string {
  try {
    statSync(file);
    return file;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || path.dirname(file) === file) throw error;
    return nearestExisting(path.dirname(file));
  }
}

/**
 * Makes a folder and those above it that are missing. Node's own way to do so never ends where
 * nothing can be made, as under /proc.
 */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  const make = async (): Promise<void> => {
    try {
      await mkdir(folder, { mode });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' || !(await stat(folder)).isDirectory()) throw error;
    }
  };
  try {
    await make();
  } catch (error) {
    const above = path.dirname(folder);
    if (codeOf(error) !== 'ENOENT' || above === folder) throw error;
    await makeFolder(above, mode);
    await make();
  }
}

/** The folder for what can be fetched again, in the user's home; none where there is none. */
export function userCaches(): string[] {
  const { XDG_CACHE_HOME: shared = '', HOME: home = '' } = process.env;
  // The specification says that a relative one is to be ignored.
  if (path.isAbsolute(shared)) return [path.join(shared, PROJECT.name)];
  return home === '' ? [] : [path.join(home, '.cache', PROJECT.name)];
}
