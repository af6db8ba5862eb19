import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DataDirectory } from '../../src/servers/data-directory';
import { temporaryFolder } from './support';

test('a claim is valid until it is closed, and claims of killed programs are removed', async () => {
  const directory = await DataDirectory.open(await temporaryFolder());
  const folder = path.join(directory.root, 'leases');
  const claim = await directory.claim('server');
  await writeFile(path.join(folder, 'mongod-tool.dead'), '');
  await writeFile(path.join(folder, 'process-mongod.dead'), '');
  expect(await directory.claims()).toEqual(['server']);
  expect(await readdir(folder)).toHaveLength(1);
  claim.close();
  expect(await directory.claims()).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
});
