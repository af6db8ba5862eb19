import { Schema, type mongo } from 'mongoose';

import { OperatorError } from '../../core/errors';
import { sharedModel } from '../model/models';

/** A change to data that the previous release wrote. It may run again after a crash. */
export interface Migration {
  /** A number, which orders the migrations of a plugin, and what it does: `0001-revisions`. */
  name: string;
  /** Whether servers of the previous release may keep writing the changed data; otherwise they stop writing. */
  besideOlder?: boolean;
  /** Missing if the previous release already ran it: older data is refused. */
  run?(run: MigrationRun): Promise<void>;
}

/** A document of the previous release. */
export interface StoredDocument {
  _id: mongo.UUID;
  [field: string]: unknown;
}

export interface MigrationRun {
  collection(name: string): mongo.Collection<StoredDocument>;
  /** The last saved position, if it was interrupted. */
  readonly position: unknown;
  /**
   * Saves the position; to be called about every second.
   *
   * @param done the number of documents changed since the last call
   * @param total the approximate number of all documents
   * @throws SchemaError if another process has taken over
   */
  save(position: unknown, done: number, total: number): Promise<void>;
}

/** A migration with the name of its plugin in the id: `records/0001-revisions`. */
export interface NamedMigration {
  id: string;
  migration: Migration;
}

/** The state of a migration of a database. */
export interface MigrationDocument {
  _id: string;
  /** As in the migration; missing in those of releases before 1.2.0. */
  besideOlder?: boolean;
  startedAt: Date;
  finishedAt: Date | null;
  position: unknown;
  /** The number of documents changed up to that position. */
  done?: number;
}

export const migrationModel = sharedModel<MigrationDocument>(
  'Migration',
  'the version of a database is the same for everybody in it',
  { oneShard: 'every write reads all of it' },
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

/** The database and this release do not fit. */
export class SchemaError extends OperatorError {}
