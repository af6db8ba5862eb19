import { randomUUID } from 'node:crypto';

import { mongo } from 'mongoose';

import { PROJECT } from '../../core/settings/project';
import { chunksOf } from '../../core/values';
import { collectionNames } from '../../data/model/collections';
import { deletionModel } from '../../data/changes/deletions';
import { everythingDeleted } from '../../data/model/tracking';
import { hostModels } from '../../data/model/host-models';
import { collectionOf, type ModelDefinition } from '../../data/model/models';
import { isDuplicateKey } from '../../data/mongodb/errors';
import {
  beginRestore,
  endRestore,
  hasUnfinishedRestore,
  isCurrentRestore,
} from '../../data/mongodb/restore-marker';
import type { App } from '../app';
import { readArchive } from './archive-reader';
import { BackupError } from './errors';
import type { Manifest } from './manifest';

/** How many documents go to the database at once: a few megabytes. */
const BATCH = 1000;

/** Numbers keep the type that they have in the archive. */
const AS_STORED = { promoteValues: false, promoteLongs: false, bsonRegExp: true };

interface RestoreOptions {
  mongodbUri: string;
  /** The program, connected to the same database. */
  app: App;
  file: string;
  /** Of the archive, which must have been verified. */
  manifest: Manifest;
  /** Called as documents are restored, with how many since the last time. */
  onDocuments?: (count: number) => void;
}

/** What was restored. */
interface Restored {
  /** Whether it is of an earlier version, which a server's start or `migrate up` brings up to this one. */
  isOlder: boolean;
}

/**
 * Puts what is in an archive into an empty database. Until all of it is there the database is marked
 * as not whole; one that a killed restore left is emptied first.
 *
 * @throws BackupError where the database has data, or the archive that of a newer release
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  requireOwnVersion(options.manifest);
  options.app.schema.requireKnown(options.manifest.migrations.map((_id) => ({ _id })));
  const client = new mongo.MongoClient(options.mongodbUri, { maxPoolSize: 2 });
  try {
    return await restoreInto(client.db(), options);
  } finally {
    await client.close();
  }
}

async function restoreInto(
  database: mongo.Db,
  { app, file, onDocuments }: RestoreOptions,
): Promise<Restored> {
  if (await hasUnfinishedRestore(database)) await empty(database, await collectionNames(database));
  await requireEmpty(database);
  const id = randomUUID();
  await beginRestore(database, id);
  // It gives way to what the program noted for itself in the archive.
  await empty(database, ownNotes());
  await readArchive(file, {
    onDocuments: async (collection, documents) => {
      await requireCurrent(database, id);
      for (const batch of chunksOf(documents, BATCH)) {
        const inserted = batch.map((document) => mongo.BSON.deserialize(document, AS_STORED));
        await database
          .collection(collection)
          .insertMany(inserted, { ordered: false })
          .catch((error: unknown) => {
            // It was empty, so that only another restore can have written the same.
            throw isDuplicateKey(error) ? new BackupError(writtenTo(collection)) : error;
          });
        onDocuments?.(batch.length);
      }
    },
  });
  const { pending } = await app.schema.status();
  // That of an earlier version is left as it is: there may be servers of it that are to use it.
  if (pending.length === 0) await app.schema.update(() => undefined);
  await beginAnew(app);
  await app.audit.record({ action: 'backup.restored', target: { type: 'backup', id: file } });
  await requireCurrent(database, id);
  await endRestore(database);
  return { isOlder: pending.length > 0 };
}

function writtenTo(collection: string): string {
  return `Others have written to ${collection} meanwhile: run \`backup restore FILE\` again, which starts over.`;
}

/** Has nothing that was answered before the restore pass for an answer of after it. */
async function beginAnew({ identity, database }: App): Promise<void> {
  const deletions = database.model(deletionModel);
  // No account can have been written to a thousand times a second: none had such a revision before.
  for (const { userId, revision } of await identity.raiseRevisions(Date.now())) {
    await deletions.create(everythingDeleted({ userId, revision }));
  }
}

async function requireCurrent(database: mongo.Db, id: string): Promise<void> {
  if (await isCurrentRestore(database, id)) return;
  throw new BackupError('Another restore into this database has begun meanwhile.');
}

/** @throws BackupError where a newer release has written the archive */
export function requireOwnVersion({ program }: Manifest): void {
  const [theirs = '', own] = [program, PROJECT].map(({ version }) => /^[\d.]+/.exec(version)?.[0]);
  if (theirs.localeCompare(own ?? '', 'en', { numeric: true }) <= 0) return;
  throw new BackupError(
    `The archive holds data of release ${program.version}, and this is ${PROJECT.version}: restore it with that release or a later one.`,
  );
}

async function empty(database: mongo.Db, names: readonly string[]): Promise<void> {
  for (const name of names) await database.collection(name).deleteMany({});
}

async function requireEmpty(database: mongo.Db): Promise<void> {
  const own = new Set(ownNotes());
  for (const name of await collectionNames(database)) {
    if (own.has(name) || !(await database.collection(name).findOne())) continue;
    throw new BackupError(
      `The database ${database.databaseName} is not empty (there are ${name}): restore into one that is, such as that of another DATA_DIR.`,
    );
  }
}

/** The collections of what the program notes for itself, also where nobody has any data yet. */
function ownNotes(): string[] {
  return hostModels.filter(({ owner }: ModelDefinition) => owner !== 'account').map(collectionOf);
}
