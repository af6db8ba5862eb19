import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { checkBinary, isExecutable, type Binary } from './binaries';
import { reasonOf } from './errors';

const FETCHING = '.fetching-';
const ABANDONED_MS = 60 * 60_000;

/** Where fetched servers are kept, best first; the data directory serves where no home can be written. */
export function cacheFolders(dataRoot: string): string[] {
  const own = join(dataRoot, 'cache');
  const shared = process.env['XDG_CACHE_HOME'];
  // The specification says that a relative one is to be ignored.
  if (shared !== undefined && isAbsolute(shared)) return [join(shared, 'plant-care-api'), own];
  try {
    return [join(homedir(), '.cache', 'plant-care-api'), own];
  } catch {
    return [own];
  }
}

/** The cached copies of a program that run here; throws the reason when there is none. */
export async function findCached(folders: string[], program: string): Promise<Binary[]> {
  const binaries: Binary[] = [];
  const reasons: string[] = [];
  for (const folder of folders) {
    for (const entry of await namesIn(folder)) {
      const path = join(folder, entry, program);
      if (entry.startsWith('.') || !(await isExecutable(path))) continue;
      try {
        binaries.push(await checkBinary(path, 'from the cache'));
      } catch (error) {
        reasons.push(reasonOf(error));
      }
    }
  }
  if (binaries.length > 0) return binaries;
  throw new Error(reasons.length > 0 ? reasons.join('; ') : `there is no ${program}`);
}

/**
 * Fetches a program into the cache, under the name `entry`. `fetch` works in a folder of its own and
 * returns the path of what it fetched, which is moved to its place in one step once it was seen to
 * run: programs that fetch at once all end with a whole file, and a broken one is replaced.
 */
export async function fetchIntoCache(
  folders: string[],
  entry: string,
  program: string,
  origin: string,
  fetch: (folder: string) => Promise<string>,
): Promise<Binary> {
  const cache = await firstWritable(folders);
  await removeAbandoned(cache);
  const beside = await mkdtemp(join(cache, FETCHING));
  try {
    const fetched = await fetch(beside);
    await chmod(fetched, 0o755);
    const { version } = await checkBinary(fetched, origin);
    const place = join(cache, entry);
    await mkdir(place, { recursive: true });
    await rename(fetched, join(place, program));
    return { path: join(place, program), version, origin };
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

async function firstWritable(folders: string[]): Promise<string> {
  for (const folder of folders) {
    try {
      await mkdir(folder, { recursive: true });
      await access(folder, constants.W_OK | constants.X_OK);
      // Access rights do not tell of a read-only file system to every user.
      const probe = join(folder, `.probe-${randomUUID()}`);
      await mkdir(probe);
      await rm(probe, { recursive: true });
      return folder;
    } catch {
      continue;
    }
  }
  throw new Error(`there is no place to keep it: ${folders.join(' and ')} cannot be written`);
}

async function removeAbandoned(cache: string): Promise<void> {
  for (const name of await namesIn(cache)) {
    if (!name.startsWith(FETCHING)) continue;
    const path = join(cache, name);
    const made = await stat(path).catch(() => undefined);
    if (made !== undefined && Date.now() - made.mtimeMs > ABANDONED_MS) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
