import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { makeWholeFile } from '../../src/app/backup/whole-file';
import { builtProgram } from '../support/program';

test('of two concurrent backups with the same name, one is made and the other is refused', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'backup-test-'));
  try {
    const file = path.join(folder, 'a.tar.gz');
    const fill = (output: Writable) => pipeline(['content'], output);
    const made = await Promise.allSettled([1, 2].map(() => makeWholeFile(file, fill)));
    expect(made.filter(({ status }) => status === 'rejected')).toEqual([
      {
        status: 'rejected',
        reason: new Error(`${file} already exists: choose another name, or move it away.`),
      },
    ]);
    expect(await readdir(folder)).toEqual(['a.tar.gz']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a killed backup’s unfinished file is removed by one made ten minutes later, and none that is being written', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'backup-test-'));
  const script = `
    const { makeWholeFile } = require(${JSON.stringify(path.join(builtProgram(), 'src/app/backup/whole-file.js'))});
    makeWholeFile(process.argv[1], async (output) => {
      output.write('content', () => process.stdout.write('writing'));
      await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    });`;
  const writer = async (name: string) => {
    const child = spawn(process.execPath, ['-e', script, path.join(folder, name)]);
    await once(child.stdout, 'data');
    return child;
  };
  const fill = (output: Writable) => pipeline(['content'], output);
  const partials = async () => (await readdir(folder)).filter((name) => name.endsWith('.partial'));
  const [killed, writing] = [
    await writer('plant-care-a.tar.gz'),
    await writer('plant-care-b.tar.gz'),
  ];
  try {
    expect(await partials()).toHaveLength(2);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const [killedFile = ''] = (await partials()).filter((name) => name.startsWith('plant-care-a.'));
    const eleven = new Date(Date.now() - 11 * 60_000);
    await utimes(path.join(folder, killedFile), eleven, eleven);
    const foreign = path.join(folder, 'film.0123abcd.partial');
    await writeFile(foreign, '');
    await utimes(foreign, eleven, eleven);
    await makeWholeFile(path.join(folder, 'c.tar.gz'), fill);
    const left = [expect.stringMatching(/^film/), expect.stringMatching(/^plant-care-b\./)];
    expect((await partials()).sort()).toEqual(left);
  } finally {
    writing.kill('SIGKILL');
    await once(writing, 'exit');
    await rm(folder, { recursive: true });
  }
});
