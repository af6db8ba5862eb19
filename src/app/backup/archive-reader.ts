import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

import { extract } from 'tar-stream';

import { reasonOf } from '../../core/values';
import { BackupError } from './errors';
import { type Manifest, MANIFEST_FILE, parseManifest, Tally } from './manifest';

/** A part holds a few megabytes plus at most one document; a manifest is much smaller. */
const MAX_ENTRY_BYTES = 32 * 1024 * 1024;

/** The length of an empty document: its length field and the final zero byte. */
const SHORTEST = 5;

interface ArchiveVisitor {
  /** Receives each part of a collection in order, before the whole archive has been verified. */
  onDocuments?: (collection: string, documents: readonly Buffer[]) => Promise<void>;
  /** Called with the number of bytes read since the last call, and the size of the file. */
  onBytes?: (bytes: number, size: number) => void;
}

/**
 * Reads an archive to its end, a few megabytes at a time, and checks it against its manifest.
 *
 * @throws BackupError if it is truncated or altered
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
  return new BackupError(`The archive is damaged and was not used: ${why}.`);
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
  // Awaited at the end.
  unpacked.catch(() => undefined);
  try {
    for await (const entry of tar) {
      const { name, type, size: bytes } = entry.header;
      // A repacked archive may contain folders.
      if (type === 'directory') entry.resume();
      else if (type !== 'file' || bytes > MAX_ENTRY_BYTES)
        throw damaged(`it contains ${name}, which does not belong there`);
      else yield { name, content: await buffer(entry) };
    }
    await unpacked;
  } catch (error) {
    throw error instanceof BackupError ? error : damaged(reasonOf(error));
  } finally {
    source.destroy();
  }
  if (gunzip.bytesWritten !== size) throw damaged('it has extra data at its end');
}

/** @throws BackupError if the file is not the next part of a collection */
function addPart(tallies: Map<string, Tally>, name: string, content: Buffer) {
  const encoded = /^collections\/([^/]+)\/\d{6,}\.bson$/.exec(name)?.[1];
  const documents = documentsOf(content);
  if (encoded === undefined || !documents) throw damaged(`${name} is not part of a collection`);
  const collection = decodeURIComponent(encoded);
  const tally = tallies.get(collection) ?? new Tally(collection);
  if (name !== tally.nextPart) throw damaged(`a part of ${collection} is missing`);
  tallies.set(collection, tally);
  tally.add(content, documents.length);
  return { collection, documents };
}

/** Splits a part into its BSON documents; returns undefined if they are invalid. */
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

/** @throws BackupError if the parts do not match the manifest */
function compare(tallies: ReadonlyMap<string, Tally>, { collections }: Manifest): void {
  for (const { name, documents, bytes, sha256 } of collections) {
    const found = (tallies.get(name) ?? new Tally(name)).entry;
    if (found.documents !== documents || found.bytes !== bytes) {
      throw damaged(`the size of ${name} differs from the manifest`);
    }
    if (found.sha256 !== sha256) throw damaged(`the content of ${name} differs from the manifest`);
  }
  const named = new Set(collections.map(({ name }) => name));
  const other = [...tallies.keys()].find((name) => !named.has(name));
  if (other !== undefined) throw damaged(`its manifest does not list ${other}`);
}
