import { idText } from '../../src/core/ids';
import type { Tenant } from '../../src/data/model/models';
import type { OwnedModel } from '../../src/data/model/owner';
import type { Transaction } from '../../src/data/writing/transaction';
import { plantNotFound } from './model';
import {
  isRecurring,
  type LastCareFields,
  type PlantDocument,
  RECURRING_CARE,
  RECURRING_TYPES,
} from './schema';

const LAST_FIELDS = [
  'lastEvent',
  ...RECURRING_TYPES.flatMap((type) => [RECURRING_CARE[type].lastDone, RECURRING_CARE[type].last]),
];

/** The fields of an event that determine the last care of its plant. */
interface CareRecord {
  type: string;
  occurredAt: Date;
  occurredOn: string;
}

/** The last care of plants. */
export class PlantCare {
  readonly #model: OwnedModel<PlantDocument>;

  constructor(model: OwnedModel<PlantDocument>) {
    this.#model = model;
  }

  /**
   * Records an event for each of some plants; only a later one than the last changes their last care.
   *
   * @throws ApiError plant_not_found if a plant does not exist, at the end of `tx` at the latest
   */
  async record(
    tx: Transaction,
    ids: readonly string[],
    { type, occurredAt, occurredOn }: CareRecord,
  ): Promise<void> {
    const fields = isRecurring(type) ? RECURRING_CARE[type] : undefined;
    const update = {
      $max: {
        lastEvent: occurredAt,
        ...(fields && {
          [fields.lastDone]: occurredAt,
          [fields.last]: { at: occurredAt, on: occurredOn },
        }),
      },
    };
    const filter = { userId: tx.userId, _id: { $in: [...ids] } };
    const required = { count: ids.length, missing: () => plantNotFound.error() };
    const options = { session: tx.session, required };
    await this.#model.bulkWrite([{ updateMany: { filter, update } }], options);
  }

  /** Replaces the last care of plants. */
  async setLast(
    tx: Transaction,
    plants: readonly { id: string; care: Partial<LastCareFields> }[],
  ): Promise<void> {
    const { userId, session } = tx;
    const writes = plants.map(({ id, care }) => ({
      updateOne: { filter: { userId, _id: id }, update: { $set: care } },
    }));
    await this.#model.bulkWrite(writes, { session });
  }

  /** The last care of all plants. */
  async last(tenant: Tenant): Promise<({ id: string } & LastCareFields)[]> {
    const found = await this.#model.find().of(tenant).select(LAST_FIELDS).lean();
    return found.map(({ _id, ...care }) => ({ id: idText(_id), ...care }));
  }
}
