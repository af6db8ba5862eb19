import pLimit from 'p-limit';

import { logKeyModel } from '../accounts/account-hash';
import type { Identity } from '../../core/identity';
import type { Database } from '../mongodb/database';
import { type AnyModel, collectionOf } from '../model/models';
import type { KnownMigrations } from './fence';
import { type IndexDifference, indexDifference, nameOf, updateIndexes } from './indexes';
import { Lease, leaseModel } from './lease';
import { migrationModel, type NamedMigration, SchemaError } from './migration';

/** How often a migration reports its progress. */
const REPORT_MS = 2000;
/** Each takes a connection, which costs MongoDB three file descriptors. */
const COLLECTIONS_AT_ONCE = 4;

/** The state of a database, and what this release has to change. */
export interface SchemaStatus {
  /** Whether the database is empty. */
  isNew: boolean;
  applied: { migration: string; finishedAt: Date }[];
  /** Pending migrations, in order. */
  pending: string[];
  collections: string[];
  /** Missing and obsolete indexes, by collection. */
  indexes: { collection: string; missing: string[]; obsolete: string[] }[];
  isUpToDate: boolean;
}

interface Inspection {
  status: SchemaStatus;
  pending: NamedMigration[];
  missingCollections: AnyModel[];
  indexes: IndexDifference[];
}

interface RunOptions {
  progress: (line: string) => void;
  /** Its place among the pending migrations: `1 of 2`. */
  place: string;
  /** Waits until earlier writes are committed or aborted; once for all migrations. */
  endEarlierWrites: () => Promise<unknown>;
  stopping: AbortSignal | undefined;
}

/** Brings the collections, indexes and documents of a database up to this release. */
export class StoredSchema {
  readonly #database: Database;
  readonly #known: KnownMigrations;
  readonly #identity: Pick<Identity, 'raiseRevisions'>;
  readonly #documents;
  readonly #lease: Lease;

  constructor(
    database: Database,
    known: KnownMigrations,
    identity: Pick<Identity, 'raiseRevisions'>,
  ) {
    this.#database = database;
    this.#known = known;
    this.#identity = identity;
    this.#documents = database.model(migrationModel);
    this.#lease = new Lease(database.model(leaseModel), 'migrations');
  }

  /** @throws SchemaError if a newer release has migrated the data */
  async status(): Promise<SchemaStatus> {
    return (await this.#inspect()).status;
  }

  /** Whether the database is empty. */
  async isEmpty(): Promise<boolean> {
    return isEmpty(await this.#collections());
  }

  /** Returns whether this release may write to the data; indexes may be missing. */
  async fits(): Promise<boolean> {
    try {
      const { pending, collections } = await this.status();
      return pending.length + collections.length === 0;
    } catch (error) {
      if (error instanceof SchemaError) return false;
      throw error;
    }
  }

  /** Whether a process is migrating the data, or preparing an empty database. */
  isBeingUpdated(): Promise<boolean> {
    return this.#lease.isHeld();
  }

  /**
   * Migrates the data to this release. Concurrent calls of other processes wait.
   *
   * @param progress receives sentences for people
   * @param stopping stops between chunks; the next call continues
   * @returns the migrations that it ran
   * @throws SchemaError if a newer release has migrated it, or the reason of `stopping`
   */
  async update(progress: (line: string) => void, stopping?: AbortSignal): Promise<string[]> {
    if ((await this.status()).isUpToDate) return [];
    const done: string[] = [];
    const onWait = (): void => {
      progress('Another process is migrating the data; waiting for it');
    };
    await this.#lease.hold(async () => {
      // Another process may have done it meanwhile.
      const { status, pending, missingCollections } = await this.#inspect();
      const { isNew } = status;
      let raised: Promise<unknown> | undefined;
      // No earlier write is committed afterwards.
      const endEarlierWrites = (): Promise<unknown> =>
        (raised ??= this.#identity.raiseRevisions(1));
      const atOnce = pLimit(COLLECTIONS_AT_ONCE);
      await Promise.all(missingCollections.map((model) => atOnce(() => model.createCollection())));
      for (const [index, each] of pending.entries()) {
        const place = `${index + 1} of ${pending.length}`;
        if (isNew) await this.#finish(each);
        else done.push(await this.#run(each, { progress, place, endEarlierWrites, stopping }));
      }
      const { indexes } = await this.#inspect();
      const report = isNew ? () => undefined : progress;
      for (const difference of indexes) {
        stopping?.throwIfAborted();
        await updateIndexes(difference, report);
      }
    }, onWait);
    return done;
  }

  async #inspect(): Promise<Inspection> {
    const documents = await this.#documents.find().sort({ _id: 1 }).lean();
    const finished = documents.flatMap(({ _id, finishedAt }) =>
      finishedAt ? [{ migration: _id, finishedAt }] : [],
    );
    const done = new Set(finished.map(({ migration }) => migration));
    this.requireKnown(documents);
    const collections = await this.#collections();
    const isThere = (model: AnyModel): boolean => collections.has(model.collection.name);
    const models = this.#database.models;
    const differences = await Promise.all(models.filter(isThere).map(indexDifference));
    const indexes = differences.filter((each) => each.missing.length + each.obsolete.length > 0);
    const pending = this.#known.all.filter(({ id }) => !done.has(id));
    const missingCollections = models.filter((model) => !isThere(model));
    return {
      pending,
      missingCollections,
      indexes,
      status: {
        isNew: isEmpty(collections),
        applied: finished,
        pending: pending.map(({ id }) => id),
        collections: missingCollections.map((model) => model.collection.name),
        indexes: indexes.map(({ model, missing, obsolete }) => ({
          collection: model.collection.name,
          missing: missing.map(nameOf),
          obsolete,
        })),
        isUpToDate: pending.length + missingCollections.length + indexes.length === 0,
      },
    };
  }

  /** @throws SchemaError if a newer release has migrated the data */
  requireKnown(migrations: Parameters<KnownMigrations['unknownAmong']>[0]): void {
    const unknown = this.#known.unknownAmong(migrations);
    if (unknown === undefined) return;
    throw new SchemaError(`A newer release has migrated the data (${unknown}): use that release.`);
  }

  async #collections(): Promise<Set<string>> {
    const listed = await this.#database.connection.listCollections();
    return new Set(listed.map(({ name }) => name));
  }

  async #run(
    { id, migration }: NamedMigration,
    { progress, place, endEarlierWrites, stopping }: RunOptions,
  ): Promise<string> {
    const { besideOlder } = migration;
    const update = {
      $set: { besideOlder },
      $setOnInsert: { startedAt: new Date(), finishedAt: null, position: null, done: 0 },
    };
    const options = { upsert: true, returnDocument: 'after' } as const;
    const started = await this.#documents.findOneAndUpdate({ _id: id }, update, options).lean();
    // From here on no server of an earlier release can commit a write.
    if (!besideOlder) await endEarlierWrites();
    const { position: reached, done: before = 0 } = started ?? {};
    const name = `Migration ${id} (${place})`;
    progress(`${name} ${reached ? 'resumes' : 'begins'}`);
    let [documents, reported] = [before, performance.now()];
    await migration.run({
      collection: (name) => this.#database.connection.getClient().db(this.#name).collection(name),
      position: reached,
      save: async (position, done, total) => {
        this.#lease.check();
        documents += done;
        await this.#documents.updateOne({ _id: id }, { $set: { position, done: documents } });
        stopping?.throwIfAborted();
        if (performance.now() - reported < REPORT_MS) return;
        reported = performance.now();
        progress(`${name}: ${documents} of about ${total} documents so far`);
      },
    });
    this.#lease.check();
    await this.#finish({ id, migration });
    progress(`${name} is done`);
    return id;
  }

  async #finish({ id, migration }: Pick<NamedMigration, 'id' | 'migration'>): Promise<void> {
    const now = new Date();
    const { besideOlder } = migration;
    const update = {
      $set: { besideOlder, finishedAt: now, position: null },
      $setOnInsert: { startedAt: now },
    };
    await this.#documents.updateOne({ _id: id }, update, { upsert: true });
  }

  get #name(): string {
    return this.#database.connection.name;
  }
}

/** Collections that exist in an empty database too. */
const NOT_DATA = new Set([migrationModel, leaseModel, logKeyModel].map(collectionOf));

function isEmpty(collections: ReadonlySet<string>): boolean {
  return [...collections].every((name) => NOT_DATA.has(name));
}
