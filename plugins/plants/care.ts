import { idText, toStoredId } from '../../src/core/ids';
import type { Tenant } from '../../src/data/models';
import { projectionOf } from '../../src/data/record-reader';
import type { Records } from '../../src/data/records';
import type { Transaction } from '../../src/data/transaction';
import { plantNotFound } from './errors';
import {
  isRecurring,
  type LastCare,
  type PlantDocument,
  RECURRING_CARE,
  RECURRING_TYPES,
} from './schema';

const LAST_PROJECTION = projectionOf([
  'lastEvent',
  ...RECURRING_TYPES.flatMap((type) => [RECURRING_CARE[type].lastDone, RECURRING_CARE[type].last]),
]);

/** An event, as far as it moves when its plant was last cared for. */
interface CareRecord {
  type: string;
  occurredAt: Date;
  occurredOn: string;
}

/** When plants were last cared for. */
export class PlantCare {
  readonly #records: Records<PlantDocument, Tenant>;

  constructor(records: Records<PlantDocument, Tenant>) {
    this.#records = records;
  }

  /**
   * Records an event of each of some plants: only a later one than those known moves when they were
   * last cared for.
   *
   * @throws ApiError plant_not_found where one is not there; at the latest at the end of `tx`
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
    await this.#records.updateExisting(tx, ids.map(toStoredId), update, () =>
      plantNotFound.error(),
    );
  }

  /** Sets when plants were last cared for, whatever was known before. */
  async setLast(
    tx: Transaction,
    plants: readonly { id: string; care: Partial<LastCare> }[],
  ): Promise<void> {
    await this.#records.updateEach(
      tx,
      plants.map(({ id, care }) => ({ filter: { _id: toStoredId(id) }, update: { $set: care } })),
    );
  }

  /** When all plants were last cared for. */
  async last(tenant: Tenant): Promise<({ id: string } & LastCare)[]> {
    const found = await this.#records.find(tenant, {}, { projection: LAST_PROJECTION });
    return found.map(({ _id, ...care }) => ({ id: idText(_id), ...care }));
  }
}
