import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { explain } from '../../src/app/backup/errors';
import { ArchiveWriter } from '../support/program';

const MEGABYTE = 1024 * 1024;

/** Takes so many bytes, as a disk that is full then. */
function fullAfter(limit: number, isSlow: boolean) {
  return async (content: AsyncIterable<Buffer>): Promise<void> => {
    let bytes = 0;
    for await (const { length } of content) {
      bytes += length;
      if (isSlow) await sleep(1);
      if (bytes > limit) {
        const message = 'ENOSPC: no space left on device, write';
        throw Object.assign(new Error(message), { code: 'ENOSPC', syscall: 'write' });
      }
    }
  };
}

async function* documents(count: number, bytes: number): AsyncGenerator<Buffer> {
  for (let index = 0; index < count; index += 1) {
    await sleep(0);
    // Nothing is compressed of what has no order.
    yield randomBytes(bytes);
  }
}

const LIMITS = [0, 16 * 1024, MEGABYTE, 4 * MEGABYTE, 5 * MEGABYTE, 8 * MEGABYTE];

test.each(LIMITS.flatMap((limit) => [true, false].map((isSlow) => [limit, isSlow] as const)))(
  'a disk that is full after %i bytes (slow: %s) ends a backup with that reason, and nothing else',
  async (limit, isSlow) => {
    const writer = new ArchiveWriter(fullAfter(limit, isSlow), new Date());
    const writing = async (): Promise<void> => {
      for (const name of ['a', 'b', 'c']) {
        await writer.addCollection(name, documents(10, MEGABYTE / 2), () => undefined);
      }
    };
    const failed: unknown = await writing().catch((error: unknown) => error);
    await writer.abort();
    expect(explain(failed)).toMatchObject({
      message: expect.stringMatching(/^The backup cannot be written: .*no space.*\.$/i) as string,
    });
    // What is emitted late fails the test as well.
    await sleep(20);
  },
);

test('a backup that is broken off while a part is written ends without an error of its own', async () => {
  const writer = new ArchiveWriter(fullAfter(Infinity, true), new Date());
  const adding = writer.addCollection('a', documents(20, MEGABYTE / 2), () => undefined);
  const failed = expect(adding).rejects.toThrow();
  await sleep(30);
  await writer.abort();
  await failed;
  await sleep(20);
});
