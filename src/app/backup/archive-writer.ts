import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

import { pack } from 'tar-stream';

import { partName } from './archive-layout';
import { type ArchivedCollection, type Manifest, MANIFEST_FILE } from './manifest';

/** How much of a collection makes a file of the archive, which is held in memory meanwhile. */
const PART_BYTES = 4 * 1024 * 1024;

/** Writes an archive as a compressed tar, a few megabytes at a time. */
export class ArchiveWriter {
  readonly #pack = pack();
  readonly #written: Promise<void>;
  readonly #moment: Date;

  /**
   * @param write writes all of the file
   * @param moment what its files are dated
   */
  constructor(write: (content: AsyncIterable<Buffer>) => Promise<void>, moment: Date) {
    this.#moment = moment;
    let writing: Promise<void> | undefined;
    const writeAll = (content: AsyncIterable<Buffer>): Promise<void> => (writing = write(content));
    this.#written = pipeline(this.#pack, createGzip(), writeAll).catch(async (error: unknown) => {
      // Of a write that fails the streams before it know only that they are broken off.
      await writing;
      throw error;
    });
    // Whoever adds to it learns of a failure.
    this.#written.catch(() => undefined);
  }

  /**
   * Adds a collection.
   *
   * @param onDocuments called with the number of documents that were added since the last time
   */
  async addCollection(
    name: string,
    documents: AsyncIterable<Buffer>,
    onDocuments: (count: number) => void,
  ): Promise<ArchivedCollection> {
    const hash = createHash('sha256');
    const added = { documents: 0, bytes: 0, parts: 0 };
    let part: Buffer[] = [];
    let size = 0;
    const addPart = async (): Promise<void> => {
      const content = Buffer.concat(part, size);
      hash.update(content);
      added.parts += 1;
      added.bytes += size;
      await this.#add(partName(name, added.parts), content);
      onDocuments(part.length);
      [part, size] = [[], 0];
    };
    for await (const document of documents) {
      part.push(document);
      added.documents += 1;
      size += document.length;
      if (size >= PART_BYTES) await addPart();
    }
    if (size > 0) await addPart();
    return {
      name,
      documents: added.documents,
      bytes: added.bytes,
      sha256: hash.digest('hex'),
    };
  }

  /** Adds the manifest, and ends the archive. */
  async finish(manifest: Manifest): Promise<void> {
    await this.#add(MANIFEST_FILE, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
    this.#pack.finalize();
    await this.#written;
  }

  /** Breaks it off; does nothing to one that is finished. */
  async abort(): Promise<void> {
    this.#pack.destroy();
    await this.#written.catch(() => undefined);
  }

  async #add(name: string, content: Buffer): Promise<void> {
    const header = { name, size: content.length, mode: 0o600, mtime: this.#moment };
    const taken = new Promise<void>((resolve, reject) => {
      const entry = this.#pack.entry(header, (error) => {
        if (error) reject(error);
        else resolve();
      });
      // One that is broken off emits the error, too.
      entry.on('error', reject);
      entry.end(content);
    });
    try {
      // Where the file cannot be written to, nothing takes the entry any more.
      await Promise.race([taken, this.#written]);
    } catch (error) {
      this.#pack.destroy(error instanceof Error ? error : undefined);
      // Why it cannot says more than that the archive is broken off.
      await this.#written;
      throw error;
    }
  }
}
