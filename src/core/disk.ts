import { statSync } from 'node:fs';
import { mkdir, stat, statfs } from 'node:fs/promises';
import path from 'node:path';

import { PROJECT } from './settings/project';
import { codeOf } from './values';

export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** The path itself if it exists, or else the nearest parent that does. */
export function nearestExisting(file: string): string {
  try {
    statSync(file);
    return file;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || path.dirname(file) === file) throw error;
    return nearestExisting(path.dirname(file));
  }
}

/** Creates a folder and its missing parents. Node's `recursive` option hangs under /proc in Node 20. */
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

/** The cache folder of the user, if there is one. */
export function userCaches(): string[] {
  const { XDG_CACHE_HOME: shared = '', HOME: home = '' } = process.env;
  // Its specification says to ignore relative paths.
  if (path.isAbsolute(shared)) return [path.join(shared, PROJECT.name)];
  return home === '' ? [] : [path.join(home, '.cache', PROJECT.name)];
}
