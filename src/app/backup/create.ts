import { PROJECT } from '../../core/project';
import { DatabaseReader, MomentGoneError } from '../../data/database-reader';
import { collectionOf } from '../../data/models';
import { isRestoring } from '../../data/restore-marker';
import { migrationModel } from '../../data/schema/migration';
import { ArchiveWriter } from './archive-writer';
import { BackupError, explain } from './errors';
import { type ArchivedCollection, documentsIn, FORMAT, type Manifest } from './manifest';
import { PartialFile } from './partial-file';

/** How often a moment is chosen anew where an index was made meanwhile. */
const ATTEMPTS = 3;

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
  /** Whether MongoDB is the program's own. */
  isOwn: boolean;
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
    try {
      return await attemptBackup(options);
    } catch (error) {
      if (error instanceof MomentGoneError) {
        if (attempt < ATTEMPTS) continue;
        throw new BackupError(
          'MongoDB does not keep one moment for as long as the backup takes: raise its minSnapshotHistoryWindowInSeconds.',
        );
      }
      throw explain(error);
    }
  }
}

async function attemptBackup(options: BackupOptions): Promise<Backup> {
  const target = await PartialFile.open(options.file, options.partial);
  try {
    const manifest = await archiveDatabase(target, options);
    const bytes = await target.complete();
    return { file: options.file, bytes, moment: manifest.moment, documents: documentsIn(manifest) };
  } catch (error) {
    await target.discard();
    throw error;
  }
}

async function archiveDatabase(target: PartialFile, options: BackupOptions): Promise<Manifest> {
  const reader = await DatabaseReader.open(options.mongodbUri, options.isOwn);
  try {
    return await archive(reader, target, options);
  } finally {
    await reader.close();
  }
}

async function archive(
  reader: DatabaseReader,
  target: PartialFile,
  { signal, onDocuments = () => undefined }: BackupOptions,
): Promise<Manifest> {
  if (isRestoring(reader.collections)) {
    throw new BackupError(
      'The database holds a backup that was restored half way: restore it again first.',
    );
  }
  const total = await reader.estimatedDocuments();
  const writer = new ArchiveWriter((content) => target.write(content), reader.moment);
  try {
    const collections: ArchivedCollection[] = [];
    for (const name of reader.collections) {
      const added = await writer.addCollection(name, reader.documents(name), (count) => {
        signal?.throwIfAborted();
        onDocuments(count, total);
      });
      collections.push(added);
    }
    const manifest: Manifest = {
      format: FORMAT,
      program: PROJECT,
      mongodb: { version: reader.mongodbVersion },
      migrations: await reader.finishedIds(collectionOf(migrationModel)),
      moment: reader.moment.toISOString(),
      collections,
    };
    await writer.finish(manifest);
    return manifest;
  } finally {
    await writer.abort();
  }
}
