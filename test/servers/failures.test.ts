import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort, ownProcess } from '../support/processes';
import { CAN_MOUNT, mountTmpfs } from '../support/tmpfs';
import {
  acquire,
  afterwards,
  aMongod,
  aProcess,
  dataDirectory,
  isAlive,
  program,
  standIn,
  temporaryFolder,
  until,
} from './support';
import { acquireServers } from '../../src/servers';

/** A mongod 6.0.5 that ends at its start, by a shell script. */
async function endingMongod(script: string): Promise<string> {
  const version = 'if [ "$1" = --version ]; then echo "db version v6.0.5"; exit; fi';
  return standIn(await temporaryFolder(), 'ending-mongod', `${version}\n${script}`);
}

/** A line of the log of mongod 6.0. */
function logLine(entry: object): string {
  return JSON.stringify({ t: { $date: '2026-11-21T12:00:00.000+00:00' }, ...entry });
}

// What it logs for the data of a later version.
const WRONG_VERSION = logLine({
  s: 'F',
  c: 'CONTROL',
  id: 20573,
  ctx: 'initandlisten',
  msg: 'Wrong mongod version',
  attr: { error: 'UPGRADE PROBLEM: Found an invalid featureCompatibilityVersion document' },
});

test('data of another version of MongoDB is refused, and the message names both versions', async () => {
  const dataDir = await temporaryFolder();
  await writeFile(path.join(dataDir, 'mongod.json'), '{"version":"8.2.6"}');
  const mongodBinary = await endingMongod(`echo '${WRONG_VERSION}'; exit 62`);
  await expect(acquireServers({ dataDir, mongodBinary }, { role: 'server' })).rejects.toThrow(
    `MongoDB 6.0.5 cannot read the data in ${path.join(dataDir, 'mongodb')}, which version 8.2.6 wrote: use version 8.2.6, or another data directory. Its log is ${path.join(dataDir, 'logs', 'mongod.log')}.`,
  );
});

test('a MongoDB that exits at its start is reported with its own message and its log', async () => {
  const dataDir = await dataDirectory();
  await mkdir(path.join(dataDir, 'mongodb'), { recursive: true });
  await writeFile(path.join(dataDir, 'mongodb', 'storage.bson'), 'no metadata');
  await expect(acquire(dataDir)).rejects.toThrow(
    /^MongoDB [\d.]+ could not start in .*mongodb: Unable to read the storage engine metadata file.*\. Its log is .*mongod\.log\.$/,
  );
  expect(ownProcess(dataDir, 'redis')).toBeUndefined();
});

test('a MongoDB that fails before it logs anything is reported with its exit code', async () => {
  const dataDir = await temporaryFolder();
  const mongodBinary = await endingMongod('kill -9 $$');
  await expect(acquireServers({ dataDir, mongodBinary }, { role: 'tool' })).rejects.toThrow(
    /^MongoDB 6\.0\.5 could not start in .*mongodb: SIGKILL\. Its log is/,
  );
});

const testProc = existsSync('/proc/self') ? test : test.skip;

testProc('a data directory that cannot be made is named', async () => {
  await expect(acquire('/proc/plant-care/data', 'tool')).rejects.toThrow(
    /^The data directory \/proc\/plant-care\/data cannot be used: ENOENT/,
  );
});

test('a data directory that cannot be used is named', async () => {
  const dataDir = path.join(await temporaryFolder(), 'file');
  await writeFile(dataDir, '');
  await expect(acquire(dataDir, 'tool')).rejects.toThrow(
    `The data directory ${dataDir} cannot be used: EEXIST`,
  );
});

const itMounts = CAN_MOUNT ? test : test.skip;

/** A data directory on a file system of its own. */
async function mounted(options: string): Promise<string> {
  const dataDir = await temporaryFolder();
  const unmount = mountTmpfs(dataDir, options);
  afterwards(async () => {
    unmount();
  });
  return dataDir;
}

itMounts('a read-only data directory is named in one sentence', async () => {
  const dataDir = await mounted('ro');
  await expect(acquire(dataDir)).rejects.toThrow(
    /^The data directory \S+ cannot be used: EROFS: [^.]+\.$/,
  );
});

itMounts('a full disk is named in one sentence, and nothing is left running', async () => {
  const dataDir = await mounted('size=600k');
  await expect(program(dataDir)).rejects.toThrow(
    /^MongoDB [\d.]+ could not start in \S+: its disk is full\. Its log is \S+\.\n$/,
  );
  expect(ownProcess(dataDir, 'mongod')).toBeUndefined();
  expect(ownProcess(dataDir, 'redis')).toBeUndefined();
});

// What mongod 6.0 logs first when it has no room for a journal file; whether it gets that far depends on timing.
const NO_JOURNAL = logLine({
  s: 'E',
  c: 'WT',
  id: 22435,
  ctx: 'thread1',
  msg: 'WiredTiger error message',
  attr: { error: 28, message: 'WiredTigerLog.0000000002: handle-extend: No space left on device' },
});

itMounts('a MongoDB that ends for want of room for its journal names the full disk', async () => {
  const dataDir = await mounted('size=60m');
  const mongodBinary = await endingMongod(`echo '${NO_JOURNAL}'; exit 14`);
  await expect(acquireServers({ dataDir, mongodBinary }, { role: 'tool' })).rejects.toThrow(
    /^MongoDB 6\.0\.5 could not start in \S+: its disk is full\. Its log is \S+\.$/,
  );
});

test('a MongoDB that another program runs on the data is reported, not stopped', async () => {
  const dataDir = await dataDirectory();
  const home = path.join(dataDir, 'mongodb');
  await mkdir(home, { recursive: true });
  const { path: binary } = await aMongod();
  const options = ['--dbpath', home, '--port', String(await freePort()), '--nounixsocket'];
  const mongod = aProcess(binary, options, home);
  await until(() => existsSync(path.join(home, 'mongod.lock')));
  await expect(acquire(dataDir)).rejects.toThrow(
    /^MongoDB [\d.]+ cannot open \S+mongodb: a MongoDB that this program did not start is using it\. Stop that one first\. Its log is \S+$/,
  );
  expect(isAlive(mongod.pid ?? 0)).toBe(true);
});

test.each(['holders', 'locks', 'redis.json'])(
  'a data directory of 1.0.0, which has %s, is refused unchanged',
  async (name) => {
    const dataDir = await temporaryFolder();
    await mkdir(path.join(dataDir, name));
    await expect(acquire(dataDir)).rejects.toThrow(
      `The data in ${dataDir} is of a release before 1.2.0: open it with 1.2.0, which migrates it, before this release.`,
    );
    expect(await readdir(dataDir)).toEqual([name]);
  },
);
