import { PROJECT } from '../../core/settings/project';
import { DatabaseReader, SnapshotGoneError } from '../../data/mongodb/database-reader';
import { collectionOf } from '../../data/model/models';
import { isRestoring } from '../../data/mongodb/restore-marker';
import { migrationModel } from '../../data/schema/migration';
import { type ArchiveFile, writeArchive } from './archive-writer';
import { BackupError, explain } from './errors';
import { documentsIn, FORMAT, type Manifest, MANIFEST_FILE, Tally } from './manifest';
import { makeWholeFile } from './whole-file';

/** How often a moment is chosen anew where an index was made meanwhile. */
const ATTEMPTS = 3;
/** How much of a collection makes a file of the archive, which is held in memory meanwhile. */
const PART_BYTES = 4 * 1024 * 1024;

/** An archive that was made. */
interface Backup {
  file: string;
  /** The size of the file. */
  bytes: number;
  moment: string;
  documents: number;
}

interface BackupOptions {
  mongodbUri: string;
  /** Whether MongoDB is a managed one. */
  isManaged: boolean;
  /** Must not be there yet. */
  file: string;
  /** Its path as long as it is not whole; one that nobody else has where left out. */
  partial?: string;
  /** Breaks it off. */
  signal?: AbortSignal;
  /** Called as documents are archived, with how many since the last time, and about how many in all. */
  onDocuments?: (count: number, total: number) => void;
}

/**
 * Archives a database as it is at one moment, whatever is written meanwhile. All collections are in
 * it, whoever they belong to; indexes are not, for the program makes them.
 *
 * @throws BackupError where it cannot be done, and nothing is left of it then
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
        'MongoDB does not keep one moment for as long as the backup takes: raise its minSnapshotHistoryWindowInSeconds.',
      );
    } finally {
      await reader.close();
    }
  }
}

async function archive(
  reader: DatabaseReader,
  { file, partial, signal, onDocuments = () => undefined }: BackupOptions,
): Promise<Backup> {
  if (isRestoring(reader.collections)) {
    throw new BackupError(
      'The database holds a backup that was restored half way: restore it again first.',
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
  const bytes = await makeWholeFile(
    file,
    (output) => writeArchive(output, reader.moment, files, signal),
    partial,
  );
  return { file, bytes, moment: manifest.moment, documents: documentsIn(manifest) };
}

/** The files of an archive, the last of them its manifest, which notes the others. */
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
