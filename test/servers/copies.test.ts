import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import {
  acquire,
  afterwards,
  dataDirectory,
  killServers,
  plantsOf,
  processOf,
  program,
  temporaryFolder,
} from './support';
import { redisResponds } from '../../src/servers/redis';

async function addTo(mongodbUri: string, id: string): Promise<void> {
  await plantsOf(mongodbUri).insertOne({ _id: id }, { writeConcern: { w: 'majority' } });
}

async function idsIn(mongodbUri: string): Promise<string[]> {
  return (await plantsOf(mongodbUri).find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
}

test('a copy of a live data directory runs its own servers on the copied data', async () => {
  const original = await dataDirectory();
  const copy = await dataDirectory();
  const first = await program(original);
  await addTo(first.servers.mongodbUri, 'Basil');
  execFileSync('cp', ['-a', original, copy]);
  const running = [processOf(original, 'mongod'), processOf(original, 'redis')];

  const before = ['Basil'];
  for (const role of ['server', 'tool'] as const) {
    const second = await acquire(copy, role);
    expect(second.notes[0]).toContain('was started');
    expect(second.mongodbUri).not.toBe(first.servers.mongodbUri);
    expect(await idsIn(second.mongodbUri)).toEqual(before);
    await addTo(second.mongodbUri, role);
    expect(await idsIn(first.servers.mongodbUri)).toEqual(['Basil']);
    if (role === 'tool') await addTo(first.servers.mongodbUri, 'Mint');
    await second.release();
    before.push(role);
  }
  expect([processOf(original, 'mongod'), processOf(original, 'redis')]).toEqual(running);
  await first.leave();
});

test('a copy of the directory of a killed program can serve while the original is being stopped', async () => {
  const original = await dataDirectory();
  const copy = await dataDirectory();
  const first = await program(original);
  execFileSync('cp', ['-a', original, copy]);
  process.kill(processOf(original, 'mongod'), 'SIGSTOP');
  await first.crash();
  const second = await acquire(copy);
  await addTo(second.mongodbUri, 'Basil');
  expect(await idsIn(second.mongodbUri)).toEqual(['Basil']);
});

test('a data directory can be moved while its servers run, and after they have stopped', async () => {
  const before = await dataDirectory();
  const after = await dataDirectory();
  const first = await program(before);
  await addTo(first.servers.mongodbUri, 'Basil');
  const mongod = processOf(before, 'mongod');
  await rename(before, after);
  const tool = await acquire(after, 'tool');
  expect(tool.notes[0]).toContain('was already running');
  expect(await idsIn(tool.mongodbUri)).toEqual(['Basil']);
  await tool.release();
  expect(processOf(after, 'mongod')).toBe(mongod);
  await first.leave();
  await expect(async () => processOf(after, 'mongod')).rejects.toThrow('No mongod runs');
  expect(existsSync(before)).toBe(false);
  const last = await dataDirectory();
  await rename(after, last);
  const second = await acquire(last);
  expect(await idsIn(second.mongodbUri)).toEqual(['Basil']);
});

test('a data directory with a long path works through a link, which is removed at the end', async () => {
  const dataDir = path.join(await dataDirectory(), 'a?b '.repeat(20), 'x'.repeat(120));
  afterwards(async () => killServers(dataDir));
  const temporary = await temporaryFolder();
  const first = await program(dataDir, { env: { TMPDIR: temporary } });
  await addTo(first.servers.mongodbUri, 'Basil');
  expect(await redisResponds(first.servers.redisUrl ?? '')).toBe(true);
  expect(await readdir(temporary)).toHaveLength(1);
  await first.exit();
  expect(await readdir(temporary)).toEqual([]);

  const second = await program(dataDir, { env: { TMPDIR: temporary } });
  expect(await idsIn(second.servers.mongodbUri)).toEqual(['Basil']);
  await second.leave();
  expect(await readdir(temporary)).toEqual([]);
});
