import { once } from 'node:events';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addHolder, livingHolders } from '../../src/servers/holders';
import { withLock } from '../../src/servers/lock';
import { identify, isAlive, self, stopProcess, type ProcessRef } from '../../src/servers/processes';
import { aProcess, eventually, temporaryFolder } from './support';

function refOf(pid: number | undefined): ProcessRef {
  const ref = identify(pid ?? 0);
  if (ref === undefined) throw new Error('It does not run.');
  return ref;
}

test('a process is told apart from a later one with its number', () => {
  const me = self();
  expect(isAlive(me)).toBe(true);
  expect(isAlive({ ...me, started: 'another time' })).toBe(false);
  expect(identify(0x7fffffff)).toBeUndefined();
});

test('a zombie counts as dead', async () => {
  // The shell starts a child and becomes a program that never asks after it.
  const parent = aProcess('sh', ['-c', 'sleep 0.01 & exec sleep 60']);
  await once(parent, 'spawn');
  if (process.platform !== 'linux') return;
  const { readFile } = await import('node:fs/promises');
  const path = `/proc/${String(parent.pid)}/task/${String(parent.pid)}/children`;
  await eventually(async () => (await readFile(path, 'utf8')).trim() !== '');
  const child = Number((await readFile(path, 'utf8')).trim());
  await eventually(async () => / Z /.test(await readFile(`/proc/${child}/stat`, 'utf8')));
  expect(identify(child)).toBeUndefined();
});

test('a process that ignores being asked is ended by force', async () => {
  const stubborn = aProcess('sh', ['-c', "trap '' TERM; while :; do sleep 0.05; done"]);
  await once(stubborn, 'spawn');
  const ref = refOf(stubborn.pid);
  await sleep(100);
  await stopProcess(ref, 200);
  expect(isAlive(ref)).toBe(false);
});

test('holders that are dead or whose number was given away are swept', async () => {
  const folder = await temporaryFolder();
  const mine = await addHolder(folder, 'server', ['mongod']);
  const dead = { pid: 0x7ffffffe, started: 'x', role: 'server', uses: ['mongod'] };
  await writeFile(join(folder, 'dead.json'), JSON.stringify(dead));
  await writeFile(join(folder, 'reused.json'), JSON.stringify({ ...dead, pid: process.pid }));
  await writeFile(join(folder, 'cut.json'), '{"pid":');
  expect(livingHolders(folder)).toMatchObject([{ pid: process.pid, role: 'server' }]);
  expect(await readdir(folder)).toHaveLength(1);
  expect(livingHolders(folder, mine)).toEqual([]);
});

test('a lock is held by one at a time, also when its holder failed or was killed', async () => {
  const folder = join(await temporaryFolder(), 'locks');
  await mkdir(folder);
  await symlink(
    JSON.stringify({ pid: process.pid, started: 'before a restart' }),
    join(folder, '7'),
  );
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
    withLock(folder, async () => work(index % 5 === 0)),
  );
  const results = await Promise.allSettled(all);
  expect(most).toBe(1);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(4);
  expect(await readdir(folder)).toHaveLength(1);
});
