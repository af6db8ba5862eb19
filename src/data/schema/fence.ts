import type { Logger } from 'pino';

import { serviceUnavailable } from '../../core/errors';
import type { Metrics } from '../../core/metrics';
import { PROJECT } from '../../core/settings/project';
import type { Database } from '../mongodb/database';
import { type KnownMigrations, migrationModel } from './migration';

/**
 * Keeps a program from writing to data that a newer release has migrated beside it.
 *
 * A migration is recorded before it looks at any data, and then moves the revision of every account.
 * So a write that looks at the records once it has moved its account's revision itself, and before
 * its commit, either is committed before that, and migrated with the rest, or finds the record, or
 * meets a conflict and is tried again. What makes an account changes none that there is.
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
      help: 'Whether a newer release has migrated the data, so that this server writes nothing any more',
      read: () => (this.#newer === undefined ? 0 : 1),
    });
  }

  /** Why nothing is written any more, for operators; undefined as long as it is, as far as is known. */
  async find(): Promise<string | undefined> {
    await this.look().catch(() => undefined);
    return this.#reason;
  }

  /** @throws ApiError service_unavailable where it is known already that nothing is written any more */
  require(): void {
    if (this.#newer === undefined) return;
    throw serviceUnavailable.error(
      'The data is of a newer release than this server, which writes nothing any more; try again shortly.',
    );
  }

  /**
   * Looks whether a newer release has migrated the data by now.
   *
   * @throws ApiError service_unavailable where it has
   */
  async look(): Promise<void> {
    const newer = this.#newer ?? (await this.#unknown());
    if (newer !== undefined && this.#newer === undefined) {
      this.#newer = newer;
      this.#log.error({ reason: this.#reason }, 'Nothing is written any more');
    }
    this.require();
  }

  get #reason(): string | undefined {
    return (
      this.#newer &&
      `A newer release has migrated the data (${this.#newer}), and this server, of release ${PROJECT.version}, writes nothing any more: stop it, and start that release.`
    );
  }

  async #unknown(): Promise<string | undefined> {
    const { ids } = this.#known;
    // Of those that it knows there is nothing to be read.
    const found = await this.#migrations.find({ _id: { $nin: [...ids] } }).lean();
    return this.#known.unknownAmong(found);
  }
}
