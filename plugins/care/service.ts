import type { Account } from '../../src/core/identity';
import { fieldError } from '../../src/core/errors';
import { idText } from '../../src/core/ids';
import { calendarOf, dayAt, dayNumber, endOfQuarterHour } from '../../src/core/time';
import type { Tenant } from '../../src/data/models';
import type { Transaction } from '../../src/data/transaction';
import {
  plantArchived,
  type PlantDocument,
  type Plants,
  RECURRING_CARE,
  RECURRING_TYPES,
  type RecurringCare,
  unknownPlant,
  type UpdatePlant,
} from '../plants';
import {
  type CareItem,
  type DueCare,
  type DueCareQuery,
  MAX_SNOOZE_DAYS,
  type SnoozeCare,
} from './schema';
import {
  clearedSnoozes,
  SNOOZE_FIELDS,
  type SnoozedPlant,
  snoozedUntil,
  snoozeFields,
} from './snoozes';

/** What says when the care of a plant is due. */
type Schedule = SnoozedPlant & Pick<PlantDocument, 'name' | 'location' | 'createdAt'>;

const SCHEDULE_FIELDS = [
  ...['name', 'location', 'createdAt'],
  ...RECURRING_TYPES.flatMap((type) => Object.values(RECURRING_CARE[type])),
  ...SNOOZE_FIELDS,
];

/** The last day that can be written. */
const LAST_DAY = dayNumber('9999-12-31');

/** Care that is due, by days in the time zone of the account. */
export class CareService {
  readonly #plants: Plants;

  constructor(plants: Plants) {
    this.#plants = plants;
  }

  /** @param validUntil gets to know until when it stays as it is, if nothing is written */
  async due(
    { timezone }: Account,
    tenant: Tenant,
    { dueBy, type, location }: DueCareQuery,
    now: Date,
    validUntil: (moment: Date) => void,
  ): Promise<DueCare> {
    const dayOf = calendarOf(timezone);
    const today = dayOf(now);
    const types = type === undefined ? RECURRING_TYPES : [type];
    const schedules: Schedule[] = await this.#plants.fields(tenant, SCHEDULE_FIELDS, location);
    validUntil(endOfQuarterHour(now));
    const items = schedules
      .flatMap((schedule) => types.flatMap((each) => itemOf(schedule, each, today, dayOf) ?? []))
      .filter(({ dueOn }) => dueOn <= (dueBy ?? today))
      // Those of a day stay in the order of plants.
      .sort((a, b) => (a.dueOn === b.dueOn ? 0 : a.dueOn < b.dueOn ? -1 : 1));
    return { today, items };
  }

  /**
   * Has care due on a day, until such care is logged; null takes that back.
   *
   * @throws ApiError plant_not_found, plant_archived (400); validation_error for a day that is past or too far
   *   ahead, and for a plant without that frequency
   */
  async snooze(tx: Transaction, { plantId, type, until }: SnoozeCare): Promise<CareItem> {
    const dayOf = calendarOf(tx.account.timezone);
    const today = dayOf(tx.now);
    if (until !== null && until < today) {
      throw fieldError('until', `until must not be before today, ${today}.`);
    }
    if (until !== null && dayNumber(until) > dayNumber(today) + MAX_SNOOZE_DAYS) {
      throw fieldError('until', `until must be at most ${MAX_SNOOZE_DAYS} days ahead.`);
    }
    const fields = snoozeFields(type, until, tx.now);
    const schedule: Schedule | null = await this.#plants.keep(tx, plantId, fields);
    if (!schedule) throw unknownPlant.error('plantId names a plant that is not yours.');
    if (schedule.archivedAt) throw plantArchived.error();
    const item = itemOf(schedule, type, today, dayOf);
    if (item) return item;
    throw fieldError(
      'type',
      `type must be care of which the plant has a frequency: it has no ${RECURRING_CARE[type].everyDays}.`,
    );
  }

  /** Ends the snoozes of care whose frequency a change of a plant clears. */
  async follow(tx: Transaction, plantId: string, change: UpdatePlant): Promise<void> {
    const cleared = clearedSnoozes(change, tx.now);
    if (Object.keys(cleared).length > 0) await this.#plants.keep(tx, plantId, cleared);
  }
}

/** Care of a plant, where it has a frequency. */
function itemOf(
  schedule: Schedule,
  type: RecurringCare,
  today: string,
  dayOf: (moment: Date) => string,
): CareItem | undefined {
  const fields = RECURRING_CARE[type];
  const everyDays = schedule[fields.everyDays];
  if (everyDays === null) return undefined;
  const last = schedule[fields.last];
  const regular = last
    ? dayAt(Math.min(dayNumber(last.on) + everyDays, LAST_DAY))
    : dayOf(schedule.createdAt);
  const until = snoozedUntil(schedule, type);
  const dueOn = until ?? regular;
  return {
    plantId: idText(schedule._id),
    plantName: schedule.name,
    location: schedule.location,
    type,
    everyDays,
    lastDone: last?.at ?? null,
    dueOn,
    daysOverdue: dayNumber(today) - dayNumber(dueOn),
    snoozedUntil: until,
  };
}
