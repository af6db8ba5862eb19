import type { mongo } from 'mongoose';
import pLimit from 'p-limit';

import { logKeyModel } from '../accounts/account-hash';
import type { Identity } from '../../core/identity';
import type { Database } from '../mongodb/database';
import { type AnyModel, collectionOf } from '../model/models';
import type { KnownMigrations } from './fence';
import { type IndexDifference, indexDifference, nameOf, updateIndexes } from './indexes';
import { Lease, leaseModel } from './lease';
import { migrationModel, type NamedMigration, SchemaError, type StoredDocument } from './migration';

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

  /** @throws SchemaError unless this release or the previous one wrote the data */
  async status(): Promise<SchemaStatus> {
    return (await this.#inspect()).status;
  }

  /** Whether nothing is stored; a cluster may have sharded the collections in advance. */
  async isEmpty(): Promise<boolean> {
    return this.#isNew(await this.#collections(), await this.#done());
  }

  /** @throws SchemaError if a release before the previous one wrote the data */
  async requireNotTooOld(): Promise<void> {
    this.#known.requireNotTooOld(await this.#done());
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
   * @throws SchemaError if neither this release nor the previous one wrote it, or the reason of `stopping`
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
      // First of all: data without them would look older, if this process were killed now.
      if (isNew) for (const each of pending) await this.#finish(each);
      const atOnce = pLimit(COLLECTIONS_AT_ONCE);
      await Promise.all(missingCollections.map((model) => atOnce(() => model.createCollection())));
      for (const [index, each] of isNew ? [] : pending.entries()) {
        const place = `${index + 1} of ${pending.length}`;
        done.push(await this.#run(each, { progress, place, endEarlierWrites, stopping }));
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
    // Before the migrations, which a process that prepares an empty database records first.
    const collections = await this.#collections();
    const documents = await this.#documents.find().sort({ _id: 1 }).lean();
    const finished = documents.flatMap(({ _id, finishedAt }) =>
      finishedAt ? [{ migration: _id, finishedAt }] : [],
    );
    const done = finished.map(({ migration }) => migration);
    this.#known.requireKnown(documents);
    const isThere = (model: AnyModel): boolean => collections.has(model.collection.name);
    const models = this.#database.models;
    const isNew = await this.#isNew(collections, done);
    if (!isNew) this.#known.requireNotTooOld(done);
    const differences = await Promise.all(models.filter(isThere).map(indexDifference));
    const indexes = differences.filter((each) => each.missing.length + each.obsolete.length > 0);
    const pending = this.#known.all.filter(({ id }) => !done.includes(id));
    const missingCollections = models.filter((model) => !isThere(model));
    return {
      pending,
      missingCollections,
      indexes,
      status: {
        isNew,
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

  #done(): Promise<string[]> {
    return this.#documents.distinct('_id', { finishedAt: { $ne: null } });
  }

  async #isNew(collections: ReadonlySet<string>, done: readonly string[]): Promise<boolean> {
    if ([...collections].every((name) => NOT_DATA.has(name))) return true;
    if (!this.#known.isTooOld(done)) return false;
    for (const { collection } of this.#database.models) {
      if (!collections.has(collection.name) || NOT_DATA.has(collection.name)) continue;
      if (await this.#stored(collection.name).findOne()) return false;
    }
    return true;
  }

  /** A collection as such, without the rules of its model. */
  #stored(name: string): mongo.Collection<StoredDocument> {
    const { connection } = this.#database;
    return connection.getClient().db(connection.name).collection(name);
  }

  async #collections(): Promise<Set<string>> {
    const listed = await this.#database.connection.listCollections();
    return new Set(listed.map(({ name }) => name));
  }

  async #run(
    { id, migration }: NamedMigration,
    { progress, place, endEarlierWrites, stopping }: RunOptions,
  ): Promise<string> {
    const { besideOlder = false } = migration;
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
    await migration.run?.({
      collection: (name) => this.#stored(name),
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
    const { besideOlder = false } = migration;
    const update = {
      $set: { besideOlder, finishedAt: now, position: null },
      $setOnInsert: { startedAt: now },
    };
    await this.#documents.updateOne({ _id: id }, update, { upsert: true });
  }
}

/** Collections that exist in an empty database too. */
const NOT_DATA = new Set([migrationModel, leaseModel, logKeyModel].map(collectionOf));
