import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

import { pack } from 'tar-stream';

export interface ArchiveFile {
  name: string;
  content: Buffer;
}

/**
 * Writes files as a compressed tar, holding one at a time in memory.
 *
 * @param moment the modification time of the files
 * @param signal aborts writing
 */
export async function writeArchive(
  output: Writable,
  moment: Date,
  files: AsyncIterable<ArchiveFile>,
  signal?: AbortSignal,
): Promise<void> {
  const tar = pack();
  const addAll = async (): Promise<void> => {
    for await (const { name, content } of files) {
      const header = { name, size: content.length, mode: 0o600, mtime: moment };
      await new Promise<void>((resolve, reject) => {
        const done = (error?: Error | null): void => {
          if (error) reject(error);
          else resolve();
        };
        // An aborted entry emits the error as well.
        tar.entry(header, content, done).on('error', done);
      });
    }
    tar.finalize();
  };
  const written = pipeline(tar, createGzip(), output, signal ? { signal } : {});
  const added = addAll();
  added.catch((error: unknown) => {
    tar.destroy(error instanceof Error ? error : undefined);
  });
  // If the output fails, `added` rejects with a mere abort; `written` has the reason.
  const [ofWrite, ofFiles] = await Promise.allSettled([written, Promise.race([added, written])]);
  if (ofFiles.status === 'rejected') throw ofFiles.reason;
  if (ofWrite.status === 'rejected') throw ofWrite.reason;
}
