import { idText, toStoredId } from '../../src/core/ids';
import type { AccountScope } from '../../src/data/models';
import { projectionOf } from '../../src/data/record-reader';
import type { Records } from '../../src/data/records';
import { LIST_ORDER } from '../../src/data/resource';
import type { Transaction } from '../../src/data/transaction';
import { plantNotFound } from './errors';
import type { Places } from './places';
import {
  isRecurring,
  type LastCare,
  type PlantDocument,
  RECURRING_CARE,
  RECURRING_TYPES,
  type RecurringCare,
} from './schema';
import { type RecurringFields, snoozeFields } from './snoozes';

/** What says when the care of a plant is due. */
export interface CareSchedule
  extends Pick<PlantDocument, 'name' | 'location' | 'createdAt'>, RecurringFields {
  id: string;
}

const SCHEDULE_FIELDS = [
  ...(['name', 'location', 'createdAt'] as const),
  ...RECURRING_TYPES.flatMap((type) => Object.values(RECURRING_CARE[type])),
];
const SCHEDULE_PROJECTION = projectionOf(SCHEDULE_FIELDS);

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

/** When plants were last cared for, and are due to be again. */
export class PlantCare {
  readonly #records: Records<PlantDocument, AccountScope>;
  readonly #places: Places;

  constructor(records: Records<PlantDocument, AccountScope>, places: Places) {
    this.#records = records;
    this.#places = places;
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
  async last(scope: AccountScope): Promise<({ id: string } & LastCare)[]> {
    const found = await this.#records.find(scope, {}, { projection: LAST_PROJECTION });
    return found.map(({ _id, ...care }) => ({ id: idText(_id), ...care }));
  }

  /** The schedules of all plants, or of those at a location, in the order of the list. */
  async schedules(scope: AccountScope, location?: string): Promise<CareSchedule[]> {
    const found = await this.#records.find(scope, await this.#places.filter(scope, location), {
      projection: SCHEDULE_PROJECTION,
      sort: LIST_ORDER,
    });
    return found.map(asSchedule);
  }

  /**
   * Snoozes care of a plant until a day, or no longer where that is null; answers its schedule,
   * undefined where there is none.
   */
  async snooze(
    tx: Transaction,
    id: string,
    type: RecurringCare,
    until: string | null,
  ): Promise<CareSchedule | undefined> {
    const $set = snoozeFields(type, until === null ? null : { until, setAt: tx.now });
    const found = await this.#records.findOneAndUpdate(tx, { _id: toStoredId(id) }, { $set });
    return found && asSchedule(found);
  }
}

function asSchedule({ _id, ...fields }: PlantDocument): CareSchedule {
  return { ...fields, id: idText(_id) };
}
