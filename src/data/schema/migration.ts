import { Schema } from 'mongoose';
import type { mongo } from 'mongoose';

import { OperatorError } from '../../core/operator-error';
import { sharedModel } from '../model/models';

/** A change to data that earlier versions of the program wrote. It may run again after a crash. */
export interface Migration {
  /** A number, which orders the migrations of a plugin, and what it does: `0001-revisions`. */
  name: string;
  /**
   * Whether servers of the release before may go on beside data that it has changed, and read and
   * write it as they do. Where they may not, they notice it and write nothing any more.
   */
  besideOlder: boolean;
  run(run: MigrationRun): Promise<void>;
}

/** A document as earlier versions stored it. */
export interface StoredDocument {
  _id: mongo.UUID;
  [field: string]: unknown;
}

/** A migration in progress. */
export interface MigrationRun {
  /** The documents of a collection, of all accounts. */
  collection(name: string): mongo.Collection<StoredDocument>;
  /** What it saved last before it was interrupted. */
  readonly position: unknown;
  /**
   * Saves how far it has come; to be called every second or so.
   *
   * @param done how many documents are done with since the last time
   * @param total about how many there are in all
   * @throws SchemaError where another program has taken over meanwhile
   */
  save(position: unknown, done: number, total: number): Promise<void>;
}

/** A migration with its name among those of all plugins: `records/0001-revisions`. */
export interface NamedMigration {
  id: string;
  plugin: string;
  migration: Migration;
}

/** What became of a migration on a database. */
export interface MigrationDocument {
  _id: string;
  /** As of the migration itself; missing where it is not known. */
  besideOlder?: boolean;
  startedAt: Date;
  finishedAt: Date | null;
  position: unknown;
  /** How many documents it was done with at that position. */
  done?: number;
}

export const migrationModel = sharedModel<MigrationDocument>(
  'Migration',
  'the version of a database is the same for everybody in it',
  new Schema<MigrationDocument>(
    {
      _id: { type: String, required: true },
      besideOlder: { type: Boolean },
      startedAt: { type: Date, required: true },
      finishedAt: { type: Date },
      position: { type: Schema.Types.Mixed },
      done: { type: Number },
    },
    { collection: 'migrations' },
  ),
);

/** The migrations that this release knows. */
export class KnownMigrations {
  readonly ids: ReadonlySet<string>;
  readonly #plugins: ReadonlySet<string>;

  /** @param plugins the names of all that there are, also of those without migrations */
  constructor(migrations: readonly NamedMigration[], plugins: readonly string[]) {
    this.ids = new Set(migrations.map(({ id }) => id));
    this.#plugins = new Set(plugins);
  }

  /** One that was begun by a newer release, beside which this one may not go on. */
  unknownAmong(
    documents: readonly Pick<MigrationDocument, '_id' | 'besideOlder'>[],
  ): string | undefined {
    // A plugin that was taken away may have migrated its data before.
    const isOfPlugin = (id: string): boolean => this.#plugins.has(id.split('/')[0] ?? '');
    return documents.find(
      ({ _id, besideOlder = false }) => !besideOlder && !this.ids.has(_id) && isOfPlugin(_id),
    )?._id;
  }
}

/** Says why a database and this version of the program do not fit, for the operator. */
export class SchemaError extends OperatorError {}
