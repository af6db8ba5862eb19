import { PROJECT } from '../../core/settings/project';
import { DatabaseReader, SnapshotGoneError } from '../../data/mongodb/database-reader';
import { collectionOf } from '../../data/model/models';
import { isRestoring } from '../../data/mongodb/restore-marker';
import { migrationModel } from '../../data/schema/migration';
import { type ArchiveFile, writeArchive } from './archive-writer';
import { BackupError, explain } from './errors';
import { documentsIn, FORMAT, type Manifest, MANIFEST_FILE, Tally } from './manifest';
import { makeWholeFile } from './whole-file';

/** How often to start over when the snapshot is gone, as after an index was built. */
const ATTEMPTS = 3;
/** The size of a file in the archive; one is held in memory at a time. */
const PART_BYTES = 4 * 1024 * 1024;

interface Backup {
  file: string;
  bytes: number;
  moment: string;
  documents: number;
}

interface BackupOptions {
  mongodbUri: string;
  /** Whether the program manages this MongoDB. */
  isManaged: boolean;
  /** Must not exist yet. */
  file: string;
  signal?: AbortSignal;
  /** Called with the number of documents archived since the last call, and the estimated total. */
  onDocuments?: (count: number, total: number) => void;
}

/**
 * Archives a snapshot of a database: all of its collections, without the indexes, which the program
 * can rebuild. Writes may continue meanwhile.
 *
 * @throws BackupError if it fails; no file is left then
 */
export async function createBackup(options: BackupOptions): Promise<Backup> {
  for (let attempt = 1; ; attempt += 1) {
    const reader = await DatabaseReader.open(options.mongodbUri, options.isManaged);
    try {
      return await archive(reader, options);
    } catch (error) {
      if (!(error instanceof SnapshotGoneError)) throw explain(error);
      if (attempt < ATTEMPTS) continue;
      throw new BackupError(
        'The backup takes longer than MongoDB keeps a snapshot: raise its minSnapshotHistoryWindowInSeconds.',
      );
    } finally {
      await reader.close();
    }
  }
}

async function archive(
  reader: DatabaseReader,
  { file, signal, onDocuments = () => undefined }: BackupOptions,
): Promise<Backup> {
  if (isRestoring(reader.collections)) {
    throw new BackupError(
      'The database holds an incomplete restore: run that restore again first.',
    );
  }
  const total = await reader.estimatedDocuments();
  const manifest: Manifest = {
    format: FORMAT,
    program: PROJECT,
    mongodb: { version: reader.mongodbVersion },
    migrations: await reader.finishedIds(collectionOf(migrationModel)),
    moment: reader.moment.toISOString(),
    collections: [],
  };
  const files = filesOf(reader, manifest, (count) => {
    onDocuments(count, total);
  });
  const bytes = await makeWholeFile(file, (output) =>
    writeArchive(output, reader.moment, files, signal),
  );
  return { file, bytes, moment: manifest.moment, documents: documentsIn(manifest) };
}

/** Yields the files of an archive, with the manifest last, because it lists the others. */
async function* filesOf(
  reader: DatabaseReader,
  manifest: Manifest,
  onDocuments: (count: number) => void,
): AsyncGenerator<ArchiveFile> {
  for (const name of reader.collections) {
    const tally = new Tally(name);
    for await (const documents of partsOf(reader.documents(name))) {
      const file = { name: tally.nextPart, content: Buffer.concat(documents) };
      tally.add(file.content, documents.length);
      yield file;
      onDocuments(documents.length);
    }
    manifest.collections.push(tally.entry);
  }
  const content = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  yield { name: MANIFEST_FILE, content };
}

async function* partsOf(documents: AsyncIterable<Buffer>): AsyncGenerator<Buffer[]> {
  let part: Buffer[] = [];
  let size = 0;
  for await (const document of documents) {
    part.push(document);
    size += document.length;
    if (size < PART_BYTES) continue;
    yield part;
    [part, size] = [[], 0];
  }
  if (size > 0) yield part;
}
