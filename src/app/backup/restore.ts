import { randomUUID } from 'node:crypto';

import { mongo } from 'mongoose';
import pLimit from 'p-limit';

import { PROJECT } from '../../core/settings/project';
import { chunksOf } from '../../core/values';
import { collectionNames } from '../../data/mongodb/database-reader';
import { deletionModel } from '../../data/changes/deletions';
import { everythingDeleted } from '../../data/model/tracking';
import { hostModels } from '../../data/model/host-models';
import { collectionOf, type ModelDefinition } from '../../data/model/models';
import { isDuplicateKey } from '../../data/mongodb/errors';
import type { KnownMigrations } from '../../data/schema/fence';
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

/** How many documents one insert takes: a few megabytes. */
const BATCH = 1000;
/** Enough to keep MongoDB busy while this process prepares the next. */
const INSERTS_AT_ONCE = 4;

/** Keeps the BSON types of the archive. */
const AS_STORED = { promoteValues: false, promoteLongs: false, bsonRegExp: true };

interface RestoreOptions {
  mongodbUri: string;
  /** Connected to the same database. */
  app: App;
  /** Verified, and restorable by this release. */
  file: string;
  /** Called with the number of documents restored since the last call. */
  onDocuments?: (count: number) => void;
}

interface Restored {
  /** Whether the data is from an earlier release and still needs migrations. */
  isOlder: boolean;
}

/**
 * Restores an archive into an empty database. The database is marked as incomplete until the end; what
 * an interrupted restore left is deleted first.
 *
 * @throws BackupError if the database is not empty
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const client = new mongo.MongoClient(options.mongodbUri, { maxPoolSize: INSERTS_AT_ONCE });
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
  // The archive has the host's own records, too.
  await empty(database, hostCollections());
  await readArchive(file, {
    onDocuments: async (collection, documents) => {
      await requireCurrent(database, id);
      await pLimit(INSERTS_AT_ONCE).map(chunksOf(documents, BATCH), async (batch) => {
        const inserted = batch.map((document) => mongo.BSON.deserialize(document, AS_STORED));
        await database
          .collection(collection)
          .insertMany(inserted, { ordered: false })
          .catch((error: unknown) => {
            // The database was empty, so another restore must have inserted the same document.
            throw isDuplicateKey(error) ? new BackupError(writtenTo(collection)) : error;
          });
        onDocuments?.(batch.length);
      });
    },
  });
  const { pending } = await app.schema.status();
  // Data of an earlier release stays as it is: servers of that release may be meant to use it.
  if (pending.length === 0) await app.schema.update(() => undefined);
  await invalidateClientState(app);
  await app.audit.record({ action: 'backup.restored', target: { type: 'backup', id: file } });
  await requireCurrent(database, id);
  await endRestore(database);
  return { isOlder: pending.length > 0 };
}

function writtenTo(collection: string): string {
  return `Another process has written to ${collection} meanwhile: run \`backup restore FILE\` again, which starts over.`;
}

/** Invalidates the sync cursors, and the ETags made of revisions, that clients got before the restore. */
async function invalidateClientState({ identity, database }: App): Promise<void> {
  const deletions = database.model(deletionModel);
  // The time in milliseconds exceeds any revision: no account gets a thousand writes a second.
  for (const raised of chunksOf(await identity.raiseRevisions(Date.now()), BATCH)) {
    await deletions.insertMany(raised.map(everythingDeleted));
  }
}

async function requireCurrent(database: mongo.Db, id: string): Promise<void> {
  if (await isCurrentRestore(database, id)) return;
  throw new BackupError('Another restore into this database has started.');
}

/**
 * Checks that this release can restore an archive.
 *
 * @throws BackupError or SchemaError if a newer release wrote it, or one before the previous
 */
export function requireRestorable({ program, migrations }: Manifest, known: KnownMigrations): void {
  const [theirs = '', own] = [program, PROJECT].map(({ version }) => /^[\d.]+/.exec(version)?.[0]);
  if (theirs.localeCompare(own ?? '', 'en', { numeric: true }) > 0) {
    throw new BackupError(
      `The archive is of release ${program.version}, and this is ${PROJECT.version}: restore it with that release or a later one.`,
    );
  }
  known.requireKnown(migrations.map((_id) => ({ _id })));
  known.requireNotTooOld(migrations);
}

async function empty(database: mongo.Db, names: readonly string[]): Promise<void> {
  for (const name of names) await database.collection(name).deleteMany({});
}

async function requireEmpty(database: mongo.Db): Promise<void> {
  const own = new Set(hostCollections());
  for (const name of await collectionNames(database)) {
    if (own.has(name) || !(await database.collection(name).findOne())) continue;
    throw new BackupError(
      `The database ${database.databaseName} is not empty (it has ${name}): restore into an empty one, such as that of a new DATA_DIR.`,
    );
  }
}

/** Returns the collections of the host's own records, which exist even before there is any user data. */
function hostCollections(): string[] {
  return hostModels.filter(({ owner }: ModelDefinition) => owner !== 'account').map(collectionOf);
}
