import { fieldError } from '../../src/core/errors';
import { toStoredId } from '../../src/core/ids';
import { calendarOf, startOfDay } from '../../src/core/time';
import type { Tenant } from '../../src/data/models';
import type { Records } from '../../src/data/records';
import type { Transaction } from '../../src/data/transaction';
import { plantLimitReached, plantNotFound } from './errors';
import { type ArchivePlant, type PlantDocument, STATUSES } from './schema';

/** How many archived plants an account may have. */
const MAX_ARCHIVED = 1000;

/** Plants that a person no longer has, kept with all that is known of them. */
export class Archive {
  readonly #records: Records<PlantDocument, Tenant>;

  constructor(records: Records<PlantDocument, Tenant>) {
    this.#records = records;
  }

  /**
   * Archives a plant; one that is archived gets the reason and, where one is given, the day.
   *
   * @throws ApiError plant_not_found, validation_error for a day to come, plant_limit_reached
   */
  async archive(tx: Transaction, id: string, { reason, on }: ArchivePlant): Promise<PlantDocument> {
    const { timezone } = tx.account;
    const today = calendarOf(timezone)(tx.now);
    if (on !== undefined && on > today) {
      throw fieldError('on', `on must not be after today, ${today}.`);
    }
    const before = await this.#records.findOne(tx, { _id: toStoredId(id) });
    if (!before) throw plantNotFound.error();
    if (!before.archivedAt && (await this.#count(tx)) >= MAX_ARCHIVED) {
      throw plantLimitReached.error(`An account may have ${MAX_ARCHIVED} archived plants.`);
    }
    const archivedAt = on === undefined ? (before.archivedAt ?? tx.now) : startOfDay(on, timezone);
    return this.#set(tx, id, { archivedAt, archiveReason: reason });
  }

  /**
   * Has a plant be active again; one that is active stays as it is.
   *
   * @throws ApiError plant_not_found, plant_limit_reached
   */
  async unarchive(tx: Transaction, id: string): Promise<PlantDocument> {
    const before = await this.#records.findOne(tx, { _id: toStoredId(id) });
    if (!before) throw plantNotFound.error();
    if (!before.archivedAt) return before;
    return this.#set(tx, id, { archivedAt: null, archiveReason: null });
  }

  #count(tx: Transaction): Promise<number> {
    return this.#records.count(tx, STATUSES.archived);
  }

  async #set(
    tx: Transaction,
    id: string,
    archived: Pick<PlantDocument, 'archivedAt' | 'archiveReason'>,
  ): Promise<PlantDocument> {
    const changes = { ...archived, updatedAt: tx.now };
    const changed = await this.#records.updateCounted(tx, { _id: toStoredId(id) }, changes);
    if (!changed) throw plantNotFound.error();
    return changed;
  }
}
