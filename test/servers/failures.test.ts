import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireServers } from '../../src/servers';
import { standIn, temporaryFolder } from './support';

// What mongod 6.0 logs for the data of a later one.
const WRONG_VERSION = JSON.stringify({
  t: { $date: '2026-11-21T12:00:00.000+00:00' },
  ...{ s: 'F', c: 'CONTROL', id: 20573, ctx: 'initandlisten', msg: 'Wrong mongod version' },
  attr: { error: 'UPGRADE PROBLEM: Found an invalid featureCompatibilityVersion document' },
});

test('data that another version wrote is refused with both versions', async () => {
  const dataDir = await temporaryFolder();
  await writeFile(join(dataDir, 'mongod.json'), '{"port":21999,"version":"8.2.6"}');
  const mongodBinary = await standIn(
    dataDir,
    'old-mongod',
    `if [ "$1" = --version ]; then echo "db version v6.0.5"; exit; fi\necho '${WRONG_VERSION}'; exit 62`,
  );
  await expect(acquireServers({ dataDir, mongodBinary }, { role: 'server' })).rejects.toThrow(
    `MongoDB 6.0.5 refuses the data in ${join(dataDir, 'mongodb')}, which version 8.2.6 wrote: use version 8.2.6 for it, or another data directory. Its log is ${join(dataDir, 'logs', 'mongod.log')}.`,
  );
});

test('a MongoDB that ends at its start is told with its own words and its log', async () => {
  const dataDir = await temporaryFolder();
  await mkdir(join(dataDir, 'mongodb'));
  await writeFile(join(dataDir, 'mongodb', 'storage.bson'), 'no metadata');
  await expect(acquireServers({ dataDir }, { role: 'server' })).rejects.toThrow(
    /^MongoDB [\d.]+ could not start in .*mongodb: Unable to read the storage engine metadata file: .+\. Its log is .*mongod\.log\.$/,
  );
});

test('a data directory that cannot be used is told', async () => {
  const folder = await temporaryFolder();
  const dataDir = join(folder, 'file');
  await writeFile(dataDir, '');
  await expect(acquireServers({ dataDir }, { role: 'tool' })).rejects.toThrow(
    `The data directory ${dataDir} cannot be used: EEXIST`,
  );
});
