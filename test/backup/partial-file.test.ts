import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { PartialFile } from '../../src/app/backup/partial-file';

test('of two backups that get one name at once only one is made, and none is lost', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'backup-test-'));
  try {
    const file = path.join(folder, 'a.tar.gz');
    const files = await Promise.all([PartialFile.open(file), PartialFile.open(file)]);
    const completed = await Promise.allSettled(files.map((each) => each.complete()));
    const refused = completed.filter(({ status }) => status === 'rejected');
    expect(refused).toEqual([
      {
        status: 'rejected',
        reason: new Error(`${file} exists already: choose another name, or move it away.`),
      },
    ]);
    await Promise.all(
      files
        .filter((_, index) => completed[index]?.status === 'rejected')
        .map((each) => each.discard()),
    );
    expect(await readdir(folder)).toEqual(['a.tar.gz']);
  } finally {
    await rm(folder, { recursive: true });
  }
});
