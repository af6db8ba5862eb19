import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

import { extract } from 'tar-stream';

import { reasonOf } from '../../core/values';
import { BackupError } from './errors';
import { type Manifest, MANIFEST_FILE, parseManifest, Tally } from './manifest';

/** A part is a few megabytes and one document, a manifest much less. */
const MAX_ENTRY_BYTES = 32 * 1024 * 1024;

/** The least length of a document: its own length, and the byte that ends it. */
const SHORTEST = 5;

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
  const tallies = new Map<string, Tally>();
  let manifest: Manifest | undefined;
  for await (const { name, content } of filesIn(file, size, visitor.onBytes)) {
    if (name === MANIFEST_FILE) {
      if (manifest) throw damaged('it has two manifests');
      manifest = parseManifest(content.toString('utf8'));
    } else {
      const { collection, documents } = addPart(tallies, name, content);
      await visitor.onDocuments?.(collection, documents);
    }
  }
  if (!manifest) throw damaged('it has no manifest');
  compare(tallies, manifest);
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

/** The files of a compressed tar. */
async function* filesIn(
  file: string,
  size: number,
  onBytes: ArchiveVisitor['onBytes'],
): AsyncGenerator<{ name: string; content: Buffer }> {
  const source = createReadStream(file);
  source.on('data', ({ length }) => onBytes?.(length, size));
  const gunzip = createGunzip();
  const tar = extract();
  const unpacked = pipeline(source, gunzip, tar);
  // It is awaited at the end.
  unpacked.catch(() => undefined);
  try {
    for await (const entry of tar) {
      const { name, type, size: bytes } = entry.header;
      // One that was packed anew may have folders.
      if (type === 'directory') entry.resume();
      else if (type !== 'file' || bytes > MAX_ENTRY_BYTES)
        throw damaged(`${name} is no part of it`);
      else yield { name, content: await buffer(entry) };
    }
    await unpacked;
  } catch (error) {
    throw error instanceof BackupError ? error : damaged(reasonOf(error));
  } finally {
    source.destroy();
  }
  if (gunzip.bytesWritten !== size) throw damaged('something was added at its end');
}

/** @throws BackupError where it is not the next part of a collection */
function addPart(tallies: Map<string, Tally>, name: string, content: Buffer) {
  const encoded = /^collections\/([^/]+)\/\d{6,}\.bson$/.exec(name)?.[1];
  const documents = documentsOf(content);
  if (encoded === undefined || !documents) throw damaged(`${name} is no part of a collection`);
  const collection = decodeURIComponent(encoded);
  const tally = tallies.get(collection) ?? new Tally(collection);
  if (name !== tally.nextPart) throw damaged(`a part of ${collection} is missing`);
  tallies.set(collection, tally);
  tally.add(content, documents.length);
  return { collection, documents };
}

/** The documents of a part, which are BSON one after the other; undefined where they are not. */
function documentsOf(part: Buffer): Buffer[] | undefined {
  const documents: Buffer[] = [];
  for (let start = 0; start < part.length;) {
    const length = part.length - start < SHORTEST ? 0 : part.readInt32LE(start);
    const end = start + length;
    if (length < SHORTEST || end > part.length || part[end - 1] !== 0) return undefined;
    documents.push(part.subarray(start, end));
    start = end;
  }
  return documents;
}

/** @throws BackupError where what was found is not what a manifest says */
function compare(tallies: ReadonlyMap<string, Tally>, { collections }: Manifest): void {
  for (const { name, documents, bytes, sha256 } of collections) {
    const found = (tallies.get(name) ?? new Tally(name)).entry;
    if (found.documents !== documents || found.bytes !== bytes) {
      throw damaged(`${name} does not have as many documents as its manifest says`);
    }
    if (found.sha256 !== sha256) throw damaged(`${name} is not what its manifest says`);
  }
  const named = new Set(collections.map(({ name }) => name));
  const other = [...tallies.keys()].find((name) => !named.has(name));
  if (other !== undefined) throw damaged(`its manifest does not name ${other}`);
}
