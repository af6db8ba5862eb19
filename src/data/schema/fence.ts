import type { Logger } from 'pino';

import { serviceUnavailable } from '../../core/errors';
import type { Metrics } from '../../core/metrics';
import { PROJECT, tooOld } from '../../core/settings/project';
import type { Database } from '../mongodb/database';
import {
  type Migration,
  type MigrationDocument,
  migrationModel,
  type NamedMigration,
  SchemaError,
} from './migration';

/** The migrations of this release. */
export class KnownMigrations {
  /** In order. */
  readonly all: readonly NamedMigration[];
  readonly ids: ReadonlySet<string>;
  readonly #plugins: ReadonlySet<string>;

  /** @param plugins all plugins, with or without migrations */
  constructor(plugins: readonly { name: string; migrations?: readonly Migration[] }[]) {
    this.all = plugins.flatMap(({ name, migrations = [] }) =>
      migrations.map((migration) => ({ id: `${name}/${migration.name}`, migration })),
    );
    this.ids = new Set(this.all.map(({ id }) => id));
    this.#plugins = new Set(plugins.map(({ name }) => name));
  }

  /** The id of a migration by a newer release, after which this one must not write, if any. */
  unknownAmong(
    documents: readonly Pick<MigrationDocument, '_id' | 'besideOlder'>[],
  ): string | undefined {
    // A plugin that was removed may have migrated its data.
    const isOfPlugin = (id: string): boolean => this.#plugins.has(id.split('/')[0] ?? '');
    return documents.find(
      ({ _id, besideOlder = false }) => !besideOlder && !this.ids.has(_id) && isOfPlugin(_id),
    )?._id;
  }

  /** @throws SchemaError if a newer release has migrated the data */
  requireKnown(documents: Parameters<KnownMigrations['unknownAmong']>[0]): void {
    const unknown = this.unknownAmong(documents);
    if (unknown === undefined) return;
    throw new SchemaError(`A newer release has migrated the data (${unknown}): use that release.`);
  }

  /** Whether data with these migrations lacks some that the previous release ran. */
  isTooOld(done: readonly string[]): boolean {
    return this.all.some(({ id, migration }) => !migration.run && !done.includes(id));
  }

  /** @throws SchemaError if data with these migrations is too old */
  requireNotTooOld(done: readonly string[]): void {
    if (!this.isTooOld(done)) return;
    throw new SchemaError(tooOld('The data'));
  }
}

/**
 * Prevents writes to data that a newer release has migrated meanwhile.
 *
 * A migration is recorded before it reads any data, and then increments the revision of every account. A
 * write looks for such records after its transaction has read its account, and increments the revision
 * before its commit. So either it is committed first, and migrated too, or it finds the record, or it
 * meets a conflict and is retried.
 */
export class Fence {
  readonly #migrations;
  readonly #known: KnownMigrations;
  readonly #log: Logger;
  #newer: string | undefined;

  constructor(database: Database, known: KnownMigrations, log: Logger, metrics: Metrics) {
    this.#migrations = database.model(migrationModel);
    this.#known = known;
    this.#log = log;
    metrics.reading({
      name: 'data_newer',
      help: 'Whether a newer release has migrated the data, so that this server no longer writes',
      read: () => (this.#newer === undefined ? 0 : 1),
    });
  }

  /** Returns why this server no longer writes, for operators; undefined if it does. */
  async find(): Promise<string | undefined> {
    await this.look().catch(() => undefined);
    return this.#reason;
  }

  /** @throws ApiError service_unavailable if a newer release is already known to have migrated the data */
  require(): void {
    if (this.#newer === undefined) return;
    throw serviceUnavailable.error(
      'The data was migrated by a newer release, and this server is about to be replaced; try again shortly.',
    );
  }

  /**
   * Looks for migrations of a newer release.
   *
   * @throws ApiError service_unavailable if there is one
   */
  async look(): Promise<void> {
    const newer = this.#newer ?? (await this.#unknown());
    if (newer !== undefined && this.#newer === undefined) {
      this.#newer = newer;
      this.#log.error({ reason: this.#reason }, 'This server no longer writes');
    }
    this.require();
  }

  get #reason(): string | undefined {
    return (
      this.#newer &&
      `A newer release has migrated the data (${this.#newer}), so this server of release ${PROJECT.version} no longer writes: stop it, and start that release.`
    );
  }

  async #unknown(): Promise<string | undefined> {
    const { ids } = this.#known;
    // Only unknown migrations are read.
    const found = await this.#migrations.find({ _id: { $nin: [...ids] } }).lean();
    return this.#known.unknownAmong(found);
  }
}
