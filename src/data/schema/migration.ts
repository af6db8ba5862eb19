import { Schema } from 'mongoose';
import type { mongo } from 'mongoose';

import { OperatorError } from '../../core/operator-error';
import { sharedModel } from '../models';

/** A change to data that earlier versions of the program wrote. It may run again after a crash. */
export interface Migration {
  /** A number, which orders the migrations of a plugin, and what it does: `0001-revisions`. */
  name: string;
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
   * @throws SchemaError where another program has taken over meanwhile
   */
  save(position: unknown, done: number): Promise<void>;
}

/** A migration with its name among those of all plugins: `records/0001-revisions`. */
export interface NamedMigration {
  id: string;
  plugin: string;
  migration: Migration;
}

/** What became of a migration on a database. */
interface MigrationDocument {
  _id: string;
  startedAt: Date;
  finishedAt: Date | null;
  position: unknown;
}

export const migrationModel = sharedModel<MigrationDocument>(
  'Migration',
  'the version of a database is the same for everybody in it',
  new Schema<MigrationDocument>(
    {
      _id: { type: String, required: true },
      startedAt: { type: Date, required: true },
      finishedAt: { type: Date },
      position: { type: Schema.Types.Mixed },
    },
    { collection: 'migrations', versionKey: false },
  ),
);

/** Says why a database and this version of the program do not fit, for the operator. */
export class SchemaError extends OperatorError {}
