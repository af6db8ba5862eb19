import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { explain } from '../../src/app/backup/errors';
import type { ArchiveFile } from '../../src/app/backup/archive-writer';
import { writeArchive } from '../support/program';

const MEGABYTE = 1024 * 1024;

/** Accepts so many bytes, like a disk that is then full. */
function fullAfter(limit: number, isSlow: boolean): Writable {
  let bytes = 0;
  return new Writable({
    write: ({ length }: Buffer, _encoding, done) => {
      bytes += length;
      const message = 'ENOSPC: no space left on device, write';
      const full = Object.assign(new Error(message), { code: 'ENOSPC', syscall: 'write' });
      const end = (): void => {
        done(bytes > limit ? full : null);
      };
      if (isSlow) setTimeout(end, 1);
      else end();
    },
  });
}

async function* files(count: number, bytes: number): AsyncGenerator<ArchiveFile> {
  for (let index = 0; index < count; index += 1) {
    await sleep(0);
    // Random bytes are not compressible.
    yield { name: String(index), content: randomBytes(bytes) };
  }
}

const LIMITS = [0, 16 * 1024, MEGABYTE, 4 * MEGABYTE, 5 * MEGABYTE, 8 * MEGABYTE];

test.each(LIMITS.flatMap((limit) => [true, false].map((isSlow) => [limit, isSlow] as const)))(
  'a disk that is full after %i bytes (slow: %s) ends a backup with that reason, and no other error',
  async (limit, isSlow) => {
    const writing = writeArchive(fullAfter(limit, isSlow), new Date(), files(5, 3 * MEGABYTE));
    const failed: unknown = await writing.catch((error: unknown) => error);
    expect(explain(failed)).toMatchObject({
      message: expect.stringMatching(/^The backup cannot be written: .*no space.*\.$/i) as string,
    });
    // Late errors fail the test as well.
    await sleep(20);
  },
);

test('a backup that is aborted during a write throws no other error', async () => {
  const stopping = AbortSignal.timeout(30);
  const output = fullAfter(Infinity, true);
  const writing = writeArchive(output, new Date(), files(20, 3 * MEGABYTE), stopping);
  await expect(writing).rejects.toThrow('aborted');
  await sleep(20);
});

test('a backup whose data can no longer be read fails with that reason', async () => {
  async function* broken(): AsyncGenerator<ArchiveFile> {
    yield* files(2, MEGABYTE);
    throw new Error('The data is gone.');
  }
  const writing = writeArchive(fullAfter(Infinity, true), new Date(), broken());
  await expect(writing).rejects.toThrow('The data is gone.');
  await sleep(20);
});
