import { fieldError } from '../../src/core/errors';
import { idText } from '../../src/core/ids';
import { addDays } from '../../src/core/time';
import { groupBy } from '../../src/core/values';
import type { Transaction } from '../../src/data/writing/transaction';
import { type BulkCare, MAX_AT_ONCE, unknownSchedule } from '../events';
import { plantArchived, unknownPlant } from '../plants';
import { dueBy } from './agenda';
import { type CaringSchedule, firstDayOf, type Need, todayOf, typeOf } from './needs';
import { LAST_DAY } from './schedules/days';
import {
  ANY,
  type DoCare,
  type DoneCare,
  MAX_SNOOZE_DAYS,
  type Postponed,
  type SkipCare,
  type SnoozeCare,
  type CareChoice,
  type PlantChoice,
} from './schema';
import type { CareService, PlantNeeds } from './service';
import { NOTHING, type Snooze, standing } from './snoozes';

interface Chosen {
  plants: readonly PlantNeeds[];
  needs: readonly Need[];
  /** If the request names one. */
  schedule: CaringSchedule | undefined;
}

/** Logs due care as done, skips it or snoozes it. */
export class CareActions {
  readonly #care: CareService;
  readonly #events: BulkCare;

  constructor(care: CareService, events: BulkCare) {
    this.#care = care;
    this.#events = events;
  }

  /**
   * Logs care as done.
   *
   * @throws ApiError plant_not_found, plant_archived, schedule_not_found or photo_not_found (400);
   *   feature_not_available over the limit of events, validation_error for a location without plants or with too many
   */
  async done(tx: Transaction, body: DoCare): Promise<DoneCare> {
    const { plants, schedule } = await this.#choose(tx, body);
    if (plants.length > MAX_AT_ONCE) {
      const message = `location has more than ${MAX_AT_ONCE} plants; name them by plantIds.`;
      throw fieldError('location', message);
    }
    const { items } = await this.#events.log(tx, {
      ...(schedule?.label != null && { text: schedule.label }),
      ...body,
      type: typeOf(schedule?.care ?? body.type ?? 'other'),
      location: undefined,
      plantIds: plants.map(({ plant }) => idText(plant._id)),
    });
    const { needs } = await this.#choose(tx, body);
    return { items, next: dueBy(needs, todayOf(tx), LAST_DAY) };
  }

  /**
   * Counts care as done on the later of its due day and today. Of several plants only care that is due by
   * today is skipped.
   *
   * @throws ApiError plant_not_found, plant_archived or schedule_not_found (400), validation_error if the plant does
   *   not need such care
   */
  async skip(tx: Transaction, body: SkipCare): Promise<Postponed> {
    const today = todayOf(tx);
    const { needs } = await this.#choose(tx, body);
    const postponed = needs.flatMap((need) => {
      const dueOn = firstDayOf(need);
      if (dueOn === undefined || (isOfSeveral(body) && dueOn > today)) return [];
      return { need, snooze: { ...NOTHING, skippedOn: dueOn > today ? dueOn : today } };
    });
    return this.#postpone(tx, body, postponed);
  }

  /**
   * Makes care due on a day until it is done; null undoes a snooze or skip. Of several plants only care
   * that is due before that day is put off; none is brought forward.
   *
   * @throws ApiError as {@link skip}; validation_error for a past day or one too far ahead
   */
  async snooze(tx: Transaction, { until, ...body }: SnoozeCare): Promise<Postponed> {
    const today = todayOf(tx);
    if (until !== null && until < today) {
      throw fieldError('until', `until must not be before today, ${today}.`);
    }
    if (until !== null && until > addDays(today, MAX_SNOOZE_DAYS)) {
      throw fieldError('until', `until must be at most ${MAX_SNOOZE_DAYS} days ahead.`);
    }
    const { needs } = await this.#choose(tx, body);
    const snooze = until === null ? NOTHING : { ...NOTHING, until, setAt: tx.now };
    const chosen = needs.filter((need) => {
      if (until === null) return !isOfSeveral(body) || isPostponed(need);
      const dueOn = firstDayOf(need);
      return dueOn !== undefined && (!isOfSeveral(body) || dueOn < until);
    });
    return this.#postpone(
      tx,
      body,
      chosen.map((need) => ({ need, snooze })),
    );
  }

  async #postpone(
    tx: Transaction,
    body: CareChoice,
    all: readonly { need: Need; snooze: Snooze }[],
  ): Promise<Postponed> {
    if (all.length === 0 && !isOfSeveral(body)) {
      throw body.scheduleId === undefined
        ? fieldError('type', 'type must be care for which the plant has a frequency or schedule.')
        : fieldError('scheduleId', 'scheduleId must name a schedule whose care is due.');
    }
    // They differ only if occurrences of several days are skipped.
    for (const alike of groupBy(all, ({ snooze }) => snooze.skippedOn).values()) {
      const needs = alike.map(({ need }) => need);
      await this.#care.postpone(tx, needs, alike[0].snooze);
    }
    const needs = all.map(({ need, snooze }) => ({ ...need, snooze }));
    const items = dueBy(needs, todayOf(tx), LAST_DAY);
    const [item] = items;
    return item && !isOfSeveral(body) ? item : { items };
  }

  /** The plants and the needs that a request names. */
  async #choose(tx: Transaction, { scheduleId, type, ...some }: CareChoice): Promise<Chosen> {
    const plants = await this.#plants(tx, some);
    if (scheduleId === undefined) {
      const needs = plants
        .flatMap((plant) => plant.needs)
        .filter(({ care }) => type === ANY || care === type);
      return { plants, needs, schedule: undefined };
    }
    const isMeant = ({ _id }: CaringSchedule): boolean => idText(_id) === scheduleId.toLowerCase();
    for (const plant of plants) {
      const schedule = plant.schedules.find(isMeant);
      if (!schedule) continue;
      const needs = plant.needs.filter((need) => need.schedule === schedule);
      return { plants: [plant], needs, schedule };
    }
    throw unknownSchedule.error('scheduleId names a schedule that the plant does not have.');
  }

  /** The plants that a request names. */
  async #plants(
    tx: Transaction,
    { plantId, plantIds, location }: PlantChoice,
  ): Promise<PlantNeeds[]> {
    const ids = plantId === undefined ? plantIds : [plantId];
    const plants = await this.#care.read(tx.account, tx, tx.now, { ids, location }, (each) => [
      each,
    ]);
    const there = new Set(plants.map(({ plant }) => idText(plant._id)));
    const missing = ids?.find((id) => !there.has(id.toLowerCase()));
    if (missing !== undefined) {
      const field = plantId === undefined ? 'plantIds' : 'plantId';
      throw unknownPlant.error(`${field} names a plant that is not yours: ${missing}.`);
    }
    if (plants.some(({ plant }) => plant.archivedAt)) throw plantArchived.error();
    if (location !== undefined && plants.length === 0) {
      throw fieldError('location', 'location has no plants.');
    }
    return plants;
  }
}

/** Whether a request may name several items, so that the response is a list. */
function isOfSeveral({ plantId, type }: CareChoice): boolean {
  return plantId === undefined || type === ANY;
}

function isPostponed({ snooze, last }: Need): boolean {
  const { until, skippedOn } = standing(snooze, last);
  return until !== null || skippedOn !== null;
}
