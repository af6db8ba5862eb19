import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { makeWholeFile } from '../../src/app/backup/whole-file';

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
