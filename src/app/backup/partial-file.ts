import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { access, type FileHandle, link, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { codeOf } from '../../core/values';
import { BackupError } from './errors';

/** How file systems say that a file has one name only, as exFAT and some network mounts do. */
const NO_LINKS = new Set<unknown>(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** The end of the name of a file that is not whole yet. */
export const PARTIAL = '.partial';

/**
 * A new file that gets its name only once it is whole and on the disk; whatever ends the program
 * before leaves nothing under that name. Only its owner may read it.
 */
export class PartialFile {
  readonly #handle: FileHandle;
  readonly #onExit = (): void => {
    rmSync(this.path, { force: true });
  };

  private constructor(
    readonly file: string,
    readonly path: string,
    handle: FileHandle,
  ) {
    this.#handle = handle;
    process.once('exit', this.#onExit);
  }

  /**
   * @param partial its path until then, which must be in the same folder and not be there yet
   * @throws BackupError where there is a file of the name that it is to get
   */
  static async open(
    file: string,
    partial = `${file}.${randomUUID().slice(0, 8)}${PARTIAL}`,
  ): Promise<PartialFile> {
    await refuseExisting(file);
    return new PartialFile(file, partial, await open(partial, 'wx', 0o600));
  }

  /** Writes all of the content. */
  async write(content: AsyncIterable<Buffer>): Promise<void> {
    await writeFile(this.#handle, content);
  }

  /**
   * Gives it its name. Answers its size in bytes.
   *
   * @throws BackupError where another file has that name by now, or another program took this one
   *   for one that was left, and removed it
   */
  async complete(): Promise<number> {
    await this.#handle.sync();
    const { size, ino } = await this.#handle.stat();
    if ((await stat(this.path)).ino !== ino) throw new BackupError('Another backup has begun.');
    await this.#takeName();
    await this.#close();
    const folder = await open(path.dirname(this.file));
    try {
      // Only then the name is on the disk as well.
      await folder.sync();
    } finally {
      await folder.close();
    }
    return size;
  }

  /** Removes it. */
  async discard(): Promise<void> {
    await this.#close();
    await rm(this.path, { force: true });
  }

  /** In one step, so that of two programs only one gets the name. */
  async #takeName(): Promise<void> {
    try {
      await link(this.path, this.file);
    } catch (error) {
      await refuseExisting(this.file);
      if (!NO_LINKS.has(codeOf(error))) throw error;
      await rename(this.path, this.file);
    }
    await rm(this.path, { force: true });
  }

  async #close(): Promise<void> {
    process.removeListener('exit', this.#onExit);
    await this.#handle.close();
  }
}

async function refuseExisting(file: string): Promise<void> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (isThere)
    throw new BackupError(`${file} exists already: choose another name, or move it away.`);
}
