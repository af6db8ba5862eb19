import { fieldError } from '../../src/core/errors';
import type { Account } from '../../src/core/identity';
import { anyOf, idText, type StoredId } from '../../src/core/ids';
import { addDays, calendarOf, endOfQuarterHour } from '../../src/core/time';
import type { Tenant } from '../../src/data/model/models';
import { batchesOf } from '../../src/data/model/batches';
import type { OwnedModel } from '../../src/data/model/owner';
import type { Transaction } from '../../src/data/writing/transaction';
import { type Plants, RECURRING_CARE, RECURRING_TYPES } from '../plants';
import type { PlantChange } from '../plants/domain-events';
import { addition, type Decision, standing } from './acts';
import { agenda, dueBy, sortByDay } from './agenda';
import { type CaredPlant, type CaringSchedule, type Need, needsOf, typeOf } from './needs';
import { RULE_FIELDS } from './schedules/days';
import { BY_PLANT } from './schedules/model';
import type { Care, ScheduleDocument } from './schedules/schema';
import { type DueCare, type DueCareQuery, MAX_DAYS_AHEAD } from './schema';
import {
  ACT_FIELDS,
  actsPath,
  historyOf,
  historyOfSchedule,
  type SnoozedPlant,
  type SnoozeView,
} from './snoozes';

const PLANT_FIELDS = [
  'name',
  'location',
  'createdAt',
  'archivedAt',
  ...RECURRING_TYPES.flatMap((type) => Object.values(RECURRING_CARE[type])),
  ...ACT_FIELDS,
];
const SCHEDULE_FIELDS = [
  'plantId',
  'care',
  'label',
  ...RULE_FIELDS,
  'active',
  'last',
  'acts',
  'snoozedUntil',
  'skippedOn',
  'snoozedAt',
];

/** Schedules fetched at once: they are small. */
const BATCH = 250;

/** A query of due care of any kind. */
export type DueQuery = Omit<DueCareQuery, 'type'> & { care?: Care | undefined };

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
   * @param validUntil receives the moment until which the response is valid if nothing is written
   * @throws ApiError validation_error for a day too far ahead
   */
  async due(
    { timezone }: Pick<Account, 'timezone'>,
    tenant: Tenant,
    { dueBy: last, to, care: wanted, location }: DueQuery,
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
    validUntil(endOfQuarterHour(now));
    const read = <T>(pick: (needs: readonly Need[]) => readonly T[]): Promise<T[]> =>
      this.read({ timezone }, tenant, now, { location }, ({ needs }) =>
        pick(wanted === undefined ? needs : needs.filter(({ care }) => care === wanted)),
      );
    if (to === undefined) {
      const items = await read((needs) => dueBy(needs, today, last ?? today));
      return { today, items: sortByDay(items) };
    }
    return { today, ...(await agenda(await read((needs) => needs), today, to)) };
  }

  /**
   * Reads plants with their needs: all active ones, those at a location, or those of some ids.
   *
   * @param pick what to keep of a plant; the rest is not held in memory
   * @returns what was picked, in the order of the list of plants
   */
  async read<T>(
    { timezone }: Pick<Account, 'timezone'>,
    tenant: Tenant,
    now: Date,
    some: { ids?: readonly string[] | undefined; location?: string | undefined },
    pick: (plant: PlantNeeds) => readonly T[],
  ): Promise<T[]> {
    const dayOf = calendarOf(timezone);
    const today = dayOf(now);
    const plants: CaredPlant[] = await this.#plants.fields(tenant, PLANT_FIELDS, {
      ...some,
      status: some.ids ? 'all' : 'active',
    });
    const isAll = some.ids === undefined && some.location === undefined;
    const byId = new Map(plants.map((plant) => [idText(plant._id), plant]));
    const picked = new Map<string, readonly T[]>();
    const add = (id: string, schedules: readonly CaringSchedule[]): void => {
      const plant = byId.get(id);
      if (!plant) return;
      picked.set(id, pick({ plant, schedules, needs: needsOf(plant, schedules, today, dayOf) }));
    };
    for await (const found of this.#schedulesOf(tenant, isAll ? undefined : plants)) add(...found);
    for (const id of byId.keys()) if (!picked.has(id)) add(id, []);
    return [...byId.keys()].flatMap((id) => picked.get(id) ?? []);
  }

  /**
   * Adds a decision to some care.
   *
   * @param isChange whether it changes what stands, so that copies get the plants
   */
  async decide(
    tx: Transaction,
    needs: readonly Need[],
    decision: Decision,
    isChange: boolean,
  ): Promise<void> {
    const bySchedule = needs.filter(({ schedule }) => schedule);
    const schedules = bySchedule.flatMap(({ schedule }) => schedule?._id ?? []);
    if (schedules.length > 0) {
      // Copies get what stands of it with the plants.
      const added = this.#schedules.updateMany(
        { _id: anyOf(schedules) },
        addition('acts', decision),
      );
      await added.of(tx).setOptions({ tracked: false });
      if (isChange) await this.#plants.keep(tx, plantsOf(bySchedule));
    }
    for (const type of RECURRING_TYPES) {
      const own = plantsOf(needs.filter(({ schedule, care }) => !schedule && care === type));
      await this.#plants.keep(tx, own, addition(actsPath(type), decision), isChange);
    }
  }

  /** Keeps the frequencies that a change of a plant replaces, and ends what stands of those that it clears. */
  async follow(tx: Transaction, { change, before }: PlantChange): Promise<void> {
    if (!before) return;
    const { now: at, revision, account } = tx;
    for (const type of RECURRING_TYPES) {
      const field = RECURRING_CARE[type].everyDays;
      const { [field]: everyDays } = before;
      const { [field]: changed } = change;
      if (everyDays === null || changed === undefined || changed === everyDays) continue;
      const clear = { at, revision, zone: account.timezone, until: null };
      const update =
        changed === null
          ? { $set: { [actsPath(type)]: [clear] } }
          : addition(actsPath(type), { at, revision, rule: { everyDays } });
      await this.#plants.keep(tx, [before._id], update);
    }
  }

  /** The snoozes and skips of some plants, for copies. */
  async snoozesOf(tenant: Tenant, plants: readonly SnoozedPlant[]): Promise<SnoozeView[]> {
    const active = plants.filter(({ archivedAt }) => !archivedAt);
    const byPlant = new Map<string, readonly CaringSchedule[]>();
    for await (const [plantId, schedules] of this.#schedulesOf(tenant, active)) {
      byPlant.set(plantId, schedules);
    }
    return active.flatMap((plant) => {
      const plantId = idText(plant._id);
      const own = RECURRING_TYPES.map((type) => ({
        plantId,
        type,
        // Its first day matters for what is due, not for what stands.
        ...standing(historyOf(plant, type, calendarOf('UTC'))),
      }));
      const ofSchedules = (byPlant.get(plantId) ?? []).map((schedule) => ({
        plantId,
        type: typeOf(schedule.care),
        scheduleId: idText(schedule._id),
        ...standing(historyOfSchedule(schedule)),
      }));
      return [...own, ...ofSchedules].flatMap(({ skippedOn, ...snooze }) => {
        if (skippedOn !== null) return { ...snooze, skippedOn };
        return snooze.until === null ? [] : snooze;
      });
    });
  }

  /** The schedules of some plants, or of all plants: those of each plant together. */
  async *#schedulesOf(
    tenant: Tenant,
    plants: readonly SnoozedPlant[] | undefined,
  ): AsyncGenerator<[plantId: string, schedules: CaringSchedule[]]> {
    const some = plants ? { plantId: anyOf(plants.map(({ _id }) => _id)) } : {};
    const found = this.#schedules.find(some).of(tenant).select(SCHEDULE_FIELDS).sort(BY_PLANT);
    let current: [string, CaringSchedule[]] | undefined;
    for await (const batch of batchesOf<CaringSchedule>(found, BATCH)) {
      for (const schedule of batch) {
        const plantId = idText(schedule.plantId);
        if (current?.[0] === plantId) current[1].push(schedule);
        else {
          if (current) yield current;
          current = [plantId, [schedule]];
        }
      }
    }
    if (current) yield current;
  }
}

function plantsOf(needs: readonly Need[]): StoredId[] {
  return needs.map(({ plant }) => plant._id);
}
