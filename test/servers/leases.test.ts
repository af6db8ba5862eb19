import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Leases, release } from '../../src/servers/lease';
import { temporaryFolder } from './support';

const silent = (): void => undefined;

test('a lease lives until it is released, and what is dead is removed', async () => {
  const folder = await temporaryFolder();
  const leases = new Leases(folder, undefined);
  const lease = await leases.take('mongod-server');
  await writeFile(path.join(folder, 'mongod-server.dead'), '');
  await writeFile(path.join(folder, '.new.dead'), '');
  expect(await leases.living('mongod-')).toEqual([lease.path]);
  expect(await leases.living('redis-')).toEqual([]);
  expect(await readdir(folder)).toEqual([path.basename(lease.path)]);
  release(lease);
  expect(await leases.living('mongod-')).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
});

test('a lock is held by one at a time, also when its holder failed', async () => {
  const folder = await temporaryFolder();
  await writeFile(path.join(folder, 'lock.dead'), '');
  let inside = 0;
  let most = 0;
  const work = async (fails: boolean): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await sleep(5);
    inside -= 1;
    if (fails) throw new Error('It failed.');
  };
  const all = Array.from({ length: 20 }, async (_, index) =>
    new Leases(folder, undefined).withLock(async () => work(index % 5 === 0), silent),
  );
  const results = await Promise.allSettled(all);
  expect(most).toBe(1);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(4);
  expect(await readdir(folder)).toEqual([]);
});

test('waiting for a lock is reported, and can be given up', async () => {
  const leases = new Leases(await temporaryFolder(), undefined);
  const over = new AbortController();
  const reported: string[] = [];
  await leases.withLock(async () => {
    const waiting = leases.withLock(
      async () => 'inside',
      (line) => {
        reported.push(line);
        over.abort();
      },
      over.signal,
    );
    await expect(waiting).rejects.toThrow('abort');
  }, silent);
  expect(reported).toEqual([expect.stringMatching(/^Waiting for another program/)]);
});
