import { fieldError } from '../../src/core/errors';
import { calendarOf, startOfDay } from '../../src/core/time';
import type { OwnedModel } from '../../src/data/model/owner';
import { updateOf } from '../../src/data/model/resource';
import type { Transaction } from '../../src/data/writing/transaction';
import { plantLimitReached, plantNotFound } from './model';
import { type ArchivePlant, type PlantDocument, STATUSES } from './schema';

/** How many archived plants an account may have. */
const MAX_ARCHIVED = 1000;

/** Plants that a person no longer has, kept with their history. */
export class Archive {
  readonly #model: OwnedModel<PlantDocument>;

  constructor(model: OwnedModel<PlantDocument>) {
    this.#model = model;
  }

  /**
   * Archives a plant, or changes the reason and the given day of an archived one.
   *
   * @throws ApiError plant_not_found, validation_error for a future day, plant_limit_reached
   */
  async archive(tx: Transaction, id: string, { reason, on }: ArchivePlant): Promise<PlantDocument> {
    const { timezone } = tx.account;
    const today = calendarOf(timezone)(tx.now);
    if (on !== undefined && on > today) {
      throw fieldError('on', `on must not be after today, ${today}.`);
    }
    const before = await this.#model.findOne({ _id: id }).of(tx).lean();
    if (!before) throw plantNotFound.error();
    if (!before.archivedAt) await this.requireRoom(tx, 1);
    const archivedAt = on === undefined ? (before.archivedAt ?? tx.now) : startOfDay(on, timezone);
    return this.#set(tx, before, { archivedAt, archiveReason: reason });
  }

  /**
   * Makes an archived plant active again; an active plant stays as it is.
   *
   * @throws ApiError plant_not_found, plant_limit_reached
   */
  async unarchive(tx: Transaction, id: string): Promise<PlantDocument> {
    const before = await this.#model.findOne({ _id: id }).of(tx).lean();
    if (!before) throw plantNotFound.error();
    if (!before.archivedAt) return before;
    return this.#set(tx, before, { archivedAt: null, archiveReason: null });
  }

  /** @throws ApiError plant_limit_reached if the account may not have so many more archived plants */
  async requireRoom(tx: Transaction, more: number): Promise<void> {
    if (more === 0) return;
    const there = await this.#model.countDocuments(STATUSES.archived).of(tx).exec();
    if (there + more <= MAX_ARCHIVED) return;
    throw plantLimitReached.error(`An account may have ${MAX_ARCHIVED} archived plants.`);
  }

  async #set(
    tx: Transaction,
    before: PlantDocument,
    archived: Pick<PlantDocument, 'archivedAt' | 'archiveReason'>,
  ): Promise<PlantDocument> {
    const changes = { ...archived, updatedAt: updateOf(tx, [before]) };
    await this.#model.updateOne({ _id: before._id }, { $set: changes }).of(tx);
    return { ...before, ...changes };
  }
}
