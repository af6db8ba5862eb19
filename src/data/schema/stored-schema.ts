import { logKeyModel } from '../account-hash';
import type { Database } from '../database';
import { type AnyModel, collectionOf } from '../models';
import { type IndexDifference, indexDifference, nameOf, updateIndexes } from './indexes';
import { Lease, leaseModel } from './lease';
import { migrationModel, type NamedMigration, SchemaError } from './migration';

/** How often long work says how far it has come. */
const REPORT_MS = 2000;

/** What is to be done to a database before this version of the program can use it. */
export interface SchemaStatus {
  /** Whether nothing was ever stored. */
  isNew: boolean;
  /** Migrations that were done, with when. */
  applied: { migration: string; finishedAt: Date }[];
  /** Migrations that are missing, in their order. */
  pending: string[];
  /** The names of collections that are missing. */
  collections: string[];
  /** Indexes that are missing or not declared any more, by collection. */
  indexes: { collection: string; missing: string[]; obsolete: string[] }[];
  isUpToDate: boolean;
}

/** What a status is made from. */
interface Inspection {
  status: SchemaStatus;
  pending: NamedMigration[];
  missingCollections: AnyModel[];
  indexes: IndexDifference[];
}

/** Collections, indexes and the form of documents in a database, as this version needs them. */
export class StoredSchema {
  readonly #database: Database;
  readonly #migrations: readonly NamedMigration[];
  readonly #plugins: ReadonlySet<string>;
  readonly #documents;
  readonly #lease: Lease;

  /**
   * @param migrations in the order in which they are done
   * @param plugins the names of all that there are, also of those without migrations
   */
  constructor(
    database: Database,
    migrations: readonly NamedMigration[],
    plugins: readonly string[],
  ) {
    this.#plugins = new Set(plugins);
    this.#database = database;
    this.#migrations = migrations;
    this.#documents = database.records(migrationModel);
    this.#lease = new Lease(database.records(leaseModel), 'migrations');
  }

  /** @throws SchemaError where a newer version has written the data */
  async status(): Promise<SchemaStatus> {
    return (await this.#inspect()).status;
  }

  /**
   * Makes sure that the data is as this version needs it, and changes it only where it is new.
   *
   * @throws SchemaError where an earlier or a newer version has written it
   */
  async require(): Promise<void> {
    const { isNew, isUpToDate } = await this.status();
    if (isUpToDate) return;
    if (!isNew) {
      throw new SchemaError(
        'The data was written by an earlier version: start the server of this version, or run `migrate up`, first.',
      );
    }
    await this.update(() => undefined);
  }

  /**
   * Brings the data up to this version, once for all programs that ask for it at the same time.
   *
   * @param progress gets sentences for whoever looks on
   * @returns the migrations that it ran
   * @throws SchemaError where a newer version has written it
   */
  async update(progress: (line: string) => void): Promise<string[]> {
    if ((await this.status()).isUpToDate) return [];
    const done: string[] = [];
    const onWait = (): void => {
      progress('Another program migrates the data; waiting for it.');
    };
    await this.#lease.hold(async () => {
      // Another program may have done it meanwhile.
      const { status, pending, missingCollections } = await this.#inspect();
      const { isNew } = status;
      await Promise.all(missingCollections.map((model) => model.createCollection()));
      for (const each of pending) {
        if (isNew) await this.#finish(each);
        else done.push(await this.#run(each, progress));
      }
      const { indexes } = await this.#inspect();
      const report = isNew ? () => undefined : progress;
      for (const difference of indexes) await updateIndexes(difference, report);
    }, onWait);
    return done;
  }

  async #inspect(): Promise<Inspection> {
    const documents = await this.#documents.find({}, {}, { sort: { _id: 1 } });
    const finished = documents.flatMap(({ _id, finishedAt }) =>
      finishedAt ? [{ migration: _id, finishedAt }] : [],
    );
    const done = new Set(finished.map(({ migration }) => migration));
    this.requireKnown([...done]);
    const collections = await this.#collections();
    const isThere = (model: AnyModel): boolean => collections.has(model.collection.name);
    const models = this.#database.models;
    const differences = await Promise.all(models.filter(isThere).map(indexDifference));
    const indexes = differences.filter((each) => each.missing.length + each.obsolete.length > 0);
    const pending = this.#migrations.filter(({ id }) => !done.has(id));
    const missingCollections = models.filter((model) => !isThere(model));
    return {
      pending,
      missingCollections,
      indexes,
      status: {
        isNew: [...collections].every((name) => NOT_DATA.has(name)),
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

  /** @throws SchemaError where data has passed a migration that this version does not know */
  requireKnown(done: readonly string[]): void {
    const known = new Set(this.#migrations.map(({ id }) => id));
    // A plugin that was taken away may have migrated its data before.
    const isOfPlugin = (id: string): boolean => this.#plugins.has(id.split('/')[0] ?? '');
    const unknown = done.find((id) => !known.has(id) && isOfPlugin(id));
    if (unknown === undefined) return;
    throw new SchemaError(
      `The data was written by a newer version of the program, which knows the migration ${unknown}: start that version.`,
    );
  }

  async #collections(): Promise<Set<string>> {
    const listed = await this.#database.connection.listCollections();
    return new Set(listed.map(({ name }) => name));
  }

  async #run({ id, migration }: NamedMigration, progress: (line: string) => void): Promise<string> {
    const started = await this.#documents.findOneAndUpdate(
      {},
      { _id: id },
      { $setOnInsert: { startedAt: new Date(), finishedAt: null, position: null } },
      { upsert: true },
    );
    progress(`Migration ${id}${started?.position ? ' goes on' : ''}`);
    let [documents, reported] = [0, performance.now()];
    await migration.run({
      collection: (name) => this.#database.connection.getClient().db(this.#name).collection(name),
      position: started?.position,
      save: async (position, done) => {
        this.#lease.check();
        await this.#documents.updateOne({}, { _id: id }, { $set: { position } });
        documents += done;
        if (performance.now() - reported < REPORT_MS) return;
        reported = performance.now();
        progress(`Migration ${id}: ${documents} documents so far`);
      },
    });
    this.#lease.check();
    await this.#finish({ id });
    progress(`Migration ${id} is done`);
    return id;
  }

  async #finish({ id }: Pick<NamedMigration, 'id'>): Promise<void> {
    const now = new Date();
    const update = { $set: { finishedAt: now, position: null }, $setOnInsert: { startedAt: now } };
    await this.#documents.upsert({}, { _id: id }, update);
  }

  get #name(): string {
    return this.#database.connection.name;
  }
}

/** What programs store before there is any data, and also where they leave it as it is. */
const NOT_DATA = new Set([migrationModel, leaseModel, logKeyModel].map(collectionOf));
