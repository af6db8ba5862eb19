import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';

import { extract } from 'tar-stream';

import { reasonOf } from '../../core/values';
import { documentsOf, partOf } from './archive-layout';
import { BackupError } from './errors';
import { type Manifest, MANIFEST_FILE, parseManifest } from './manifest';

/** A part is a few megabytes and one document, a manifest much less. */
const MAX_ENTRY_BYTES = 32 * 1024 * 1024;

/** What is done with an archive while it is read. */
interface ArchiveVisitor {
  /** Gets each part of a collection, in order, before the archive as a whole is known to be good. */
  onDocuments?: (collection: string, documents: readonly Buffer[]) => Promise<void>;
  /** Called with the bytes of the file that were read since the last time, and its size. */
  onBytes?: (bytes: number, size: number) => void;
}

/**
 * Reads an archive from its beginning to its end, a few megabytes at a time, and compares it with
 * its manifest.
 *
 * @throws BackupError where it was cut, or is not what was written
 */
export async function readArchive(file: string, visitor: ArchiveVisitor = {}): Promise<Manifest> {
  const size = await sizeOf(file);
  const found = new Contents();
  let manifest: Manifest | undefined;
  const source = new CompressedTar(file, (bytes) => visitor.onBytes?.(bytes, size));
  for await (const { name, content } of source.entries()) {
    if (name === MANIFEST_FILE) {
      if (manifest) throw damaged('it has two manifests');
      manifest = parseManifest(content.toString('utf8'));
    } else {
      const { collection, documents } = found.add(name, content);
      await visitor.onDocuments?.(collection, documents);
    }
  }
  if (source.consumed !== size) throw damaged('something was added at its end');
  if (!manifest) throw damaged('it has no manifest');
  found.compare(manifest);
  return manifest;
}

function damaged(why: string): BackupError {
  return new BackupError(`The archive is damaged and is not used: ${why}.`);
}

async function sizeOf(file: string): Promise<number> {
  try {
    const status = await stat(file);
    if (!status.isFile()) throw new Error('it is not a file');
    return status.size;
  } catch (error) {
    throw new BackupError(`The archive ${file} cannot be read: ${reasonOf(error)}.`);
  }
}

/** The files in a tar that is compressed by gzip. */
class CompressedTar {
  /** What was wrong with its compression. */
  #failure: unknown;
  readonly #gunzip = createGunzip();
  readonly #extract = extract();
  readonly #file: string;
  readonly #onBytes: (bytes: number) => void;

  constructor(file: string, onBytes: (bytes: number) => void) {
    this.#file = file;
    this.#onBytes = onBytes;
  }

  /** How many bytes of the file its content takes. */
  get consumed(): number {
    return this.#gunzip.bytesWritten;
  }

  /** @throws BackupError where it is none */
  async *entries(): AsyncGenerator<{ name: string; content: Buffer }> {
    const source = createReadStream(this.#file);
    const fed = this.#feed(source);
    try {
      for await (const entry of this.#extract) {
        const { name, type, size } = entry.header;
        if (type === 'directory') {
          // One that was packed anew may have them.
          entry.resume();
          continue;
        }
        if (type !== 'file' || size > MAX_ENTRY_BYTES) throw damaged(`${name} is no part of it`);
        const content: Buffer[] = [];
        // What tar-stream gives is bytes, which its types do not say.
        for await (const chunk of entry) content.push(chunk as Buffer);
        yield { name, content: Buffer.concat(content) };
      }
      await fed;
    } catch (error) {
      throw error instanceof BackupError ? error : damaged(reasonOf(this.#failure ?? error));
    } finally {
      source.destroy();
      this.#gunzip.destroy();
      this.#extract.destroy();
    }
  }

  /** Never rejects: a failure ends the entries. */
  async #feed(source: ReturnType<typeof createReadStream>): Promise<void> {
    source.on('data', (chunk) => {
      this.#onBytes(chunk.length);
    });
    source.on('error', (error) => this.#gunzip.destroy(error));
    try {
      // What gunzip gives is bytes.
      for await (const chunk of source.pipe(this.#gunzip)) await this.#write(chunk as Buffer);
      this.#extract.end(null);
    } catch (error) {
      this.#failure = error;
      this.#extract.destroy(error instanceof Error ? error : undefined);
    }
  }

  async #write(chunk: Buffer): Promise<void> {
    if (this.#extract.write(chunk) || this.#extract.destroyed) return;
    const waiting = new AbortController();
    // One that is given up takes nothing any more.
    const ends = ['drain', 'close'].map((event) => once(this.#extract, event, waiting));
    await Promise.race(ends).finally(() => {
      waiting.abort();
    });
  }
}

/** What was found of each collection. */
class Contents {
  readonly #collections = new Map<
    string,
    { parts: number; documents: number; bytes: number; hash: Hash }
  >();

  /** @throws BackupError where it is not the next part of a collection */
  add(name: string, content: Buffer): { collection: string; documents: Buffer[] } {
    const part = partOf(name);
    const documents = documentsOf(content);
    if (!part || !documents) throw damaged(`${name} is no part of a collection`);
    const { collection, number } = part;
    const found = this.#collections.get(collection) ?? {
      parts: 0,
      documents: 0,
      bytes: 0,
      hash: createHash('sha256'),
    };
    if (number !== found.parts + 1) throw damaged(`a part of ${collection} is missing`);
    this.#collections.set(collection, found);
    found.parts = number;
    found.documents += documents.length;
    found.bytes += content.length;
    found.hash.update(content);
    return { collection, documents };
  }

  /** @throws BackupError where it is not what a manifest says */
  compare({ collections }: Manifest): void {
    const empty = createHash('sha256').digest('hex');
    for (const { name, documents, bytes, sha256 } of collections) {
      const found = this.#collections.get(name);
      if ((found?.documents ?? 0) !== documents || (found?.bytes ?? 0) !== bytes) {
        throw damaged(`${name} does not have as many documents as its manifest says`);
      }
      if ((found?.hash.digest('hex') ?? empty) !== sha256) {
        throw damaged(`${name} is not what its manifest says`);
      }
    }
    const named = new Set(collections.map(({ name }) => name));
    const other = [...this.#collections.keys()].find((name) => !named.has(name));
    if (other !== undefined) throw damaged(`its manifest does not name ${other}`);
  }
}
