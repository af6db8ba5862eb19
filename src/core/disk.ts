import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';

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
