import { fieldError } from '../../src/core/errors';
import type { Account } from '../../src/core/identity';
import { anyOf, idText, type StoredId, toStoredId } from '../../src/core/ids';
import { addDays, calendarOf, endOfQuarterHour } from '../../src/core/time';
import { groupBy } from '../../src/core/values';
import type { Tenant } from '../../src/data/model/models';
import type { OwnedModel } from '../../src/data/model/owner';
import type { Transaction } from '../../src/data/writing/transaction';
import { type Plants, RECURRING_CARE, RECURRING_TYPES, type UpdatePlant } from '../plants';
import { agenda, dueBy } from './agenda';
import { type CaredPlant, type CaringSchedule, type Need, needsOf, typeOf } from './needs';
import { BY_PLANT } from './schedules/model';
import type { ScheduleDocument } from './schedules/schema';
import { type DueCare, type DueCareQuery, MAX_DAYS_AHEAD } from './schema';
import {
  clearedSnoozes,
  type Snooze,
  SNOOZE_FIELDS,
  snoozeFields,
  snoozeOfSchedule,
  type SnoozedPlant,
  snoozeOf,
  type SnoozeView,
  standing,
} from './snoozes';

const PLANT_FIELDS = [
  ...['name', 'location', 'createdAt', 'archivedAt'],
  ...RECURRING_TYPES.flatMap((type) => Object.values(RECURRING_CARE[type])),
  ...SNOOZE_FIELDS,
];
const SCHEDULE_FIELDS = [
  ...['plantId', 'care', 'label', 'everyDays', 'weekdays', 'months', 'seasons', 'startOn', 'endOn'],
  ...['active', 'last', 'snoozedUntil', 'skippedOn', 'snoozedAt'],
];

/** A plant with its needs. */
export interface PlantNeeds {
  plant: CaredPlant;
  schedules: readonly CaringSchedule[];
  needs: readonly Need[];
}

/** Due care, in days of the account's time zone. */
export class CareService {
  readonly #plants: Plants;
  readonly #schedules: OwnedModel<ScheduleDocument>;

  constructor(plants: Plants, schedules: OwnedModel<ScheduleDocument>) {
    this.#plants = plants;
    this.#schedules = schedules;
  }

  /**
   * Due care or, with `to`, due care and later occurrences.
   *
   * @param validUntil receives the moment until which the answer is valid if nothing is written
   * @throws ApiError validation_error for a day too far ahead
   */
  async due(
    { timezone }: Pick<Account, 'timezone'>,
    tenant: Tenant,
    { dueBy: last, to, type, location }: DueCareQuery,
    now: Date,
    validUntil: (moment: Date) => void = () => undefined,
  ): Promise<DueCare> {
    const today = calendarOf(timezone)(now);
    if (to !== undefined && last !== undefined) {
      throw fieldError('to', 'to must not be given beside dueBy.');
    }
    if (to !== undefined && to > addDays(today, MAX_DAYS_AHEAD)) {
      throw fieldError('to', `to must be at most ${MAX_DAYS_AHEAD} days ahead.`);
    }
    const plants = await this.read({ timezone }, tenant, now, { location });
    validUntil(endOfQuarterHour(now));
    const needs = plants
      .flatMap((plant) => plant.needs)
      .filter(({ care }) => type === undefined || care === type);
    return to === undefined
      ? { today, items: dueBy(needs, today, last ?? today) }
      : { today, ...agenda(needs, today, to) };
  }

  /** Plants with their needs, in the order of the list: all active ones, those at a location, or those of some ids. */
  async read(
    { timezone }: Pick<Account, 'timezone'>,
    tenant: Tenant,
    now: Date,
    some: { ids?: readonly string[] | undefined; location?: string | undefined },
  ): Promise<PlantNeeds[]> {
    const dayOf = calendarOf(timezone);
    const today = dayOf(now);
    const plants: CaredPlant[] = await this.#plants.fields(tenant, PLANT_FIELDS, {
      ...some,
      status: some.ids ? 'all' : 'active',
    });
    const isAll = some.ids === undefined && some.location === undefined;
    const byPlant = await this.#schedulesOf(tenant, isAll ? undefined : plants);
    return plants.map((plant) => {
      const schedules = byPlant.get(idText(plant._id)) ?? [];
      return { plant, schedules, needs: needsOf(plant, schedules, today, dayOf) };
    });
  }

  /** Snoozes or skips care, replacing an earlier snooze or skip. */
  async say(tx: Transaction, needs: readonly Need[], snooze: Snooze): Promise<void> {
    const bySchedule = needs.filter(({ schedule }) => schedule);
    const schedules = bySchedule.flatMap(({ schedule }) => schedule?._id ?? []);
    if (schedules.length > 0) {
      const { until: snoozedUntil, skippedOn, setAt: snoozedAt } = snooze;
      const $set = { snoozedUntil, skippedOn, snoozedAt };
      await this.#schedules.updateMany({ _id: anyOf(schedules) }, { $set }).of(tx);
    }
    // Copies get the snoozes of schedules with the plants.
    await this.#plants.keep(tx, plantsOf(bySchedule), {});
    for (const type of RECURRING_TYPES) {
      const own = needs.filter(({ schedule, care }) => !schedule && care === type);
      await this.#plants.keep(tx, plantsOf(own), snoozeFields(type, snooze));
    }
  }

  /** Clears the snoozes of frequencies that a change of a plant clears. */
  async follow(tx: Transaction, plantId: string, change: UpdatePlant): Promise<void> {
    const fields = clearedSnoozes(change);
    if (Object.keys(fields).length > 0) await this.#plants.keep(tx, [toStoredId(plantId)], fields);
  }

  /** The snoozes and skips of some plants, for copies. */
  async snoozesOf(tenant: Tenant, plants: readonly SnoozedPlant[]): Promise<SnoozeView[]> {
    const active = plants.filter(({ archivedAt }) => !archivedAt);
    const byPlant = await this.#schedulesOf(tenant, active);
    return active.flatMap((plant) => {
      const plantId = idText(plant._id);
      const own = RECURRING_TYPES.map((type) => ({
        ...{ plantId, type },
        ...standing(snoozeOf(plant, type), plant[RECURRING_CARE[type].last]),
      }));
      const ofSchedules = (byPlant.get(plantId) ?? []).map((schedule) => ({
        ...{ plantId, type: typeOf(schedule.care), scheduleId: idText(schedule._id) },
        ...standing(snoozeOfSchedule(schedule), schedule.last),
      }));
      return [...own, ...ofSchedules].flatMap(({ skippedOn, ...snooze }) => {
        if (skippedOn !== null) return { ...snooze, skippedOn };
        return snooze.until === null ? [] : snooze;
      });
    });
  }

  /** The schedules of some plants, or of all plants, by plant. */
  async #schedulesOf(
    tenant: Tenant,
    plants: readonly SnoozedPlant[] | undefined,
  ): Promise<Map<string, CaringSchedule[]>> {
    const some = plants ? { plantId: anyOf(plants.map(({ _id }) => _id)) } : {};
    const found = this.#schedules.find(some).of(tenant).select(SCHEDULE_FIELDS);
    const schedules: CaringSchedule[] = await found.sort(BY_PLANT).lean();
    return groupBy(schedules, ({ plantId }) => idText(plantId));
  }
}

function plantsOf(needs: readonly Need[]): StoredId[] {
  return needs.map(({ plant }) => plant._id);
}
