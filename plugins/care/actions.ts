import { isDeepStrictEqual } from 'node:util';

import { fieldError } from '../../src/core/errors';
import { idText } from '../../src/core/ids';
import { addDays, calendarOf } from '../../src/core/time';
import type { Transaction } from '../../src/data/writing/transaction';
import { type BulkCare, MAX_AT_ONCE, unknownSchedule } from '../events';
import { plantArchived, unknownPlant } from '../plants';
import { type Decision, type History, isEnded, standing } from './acts';
import { dueBy } from './agenda';
import { type CaringSchedule, type Need, timed, todayOf, typeOf } from './needs';
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
  type Decided,
  type PlantChoice,
} from './schema';
import type { CareService, PlantNeeds } from './service';

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
    const { dueOn: _, ...care } = body;
    const { plants, schedule } = await this.#choose(tx, care);
    if (plants.length > MAX_AT_ONCE) {
      const message = `location has more than ${MAX_AT_ONCE} plants; name them by plantIds.`;
      throw fieldError('location', message);
    }
    const { items } = await this.#events.log(tx, {
      ...(schedule?.label != null && { text: schedule.label }),
      ...care,
      type: typeOf(schedule?.care ?? body.type ?? 'other'),
      location: undefined,
      plantIds: plants.map(({ plant }) => idText(plant._id)),
    });
    const { needs } = await this.#choose(tx, care);
    return { items, next: dueBy(needs, todayOf(tx), LAST_DAY) };
  }

  /**
   * Counts care as done on the later of the day on which it was due and that of `at`. Of several plants only
   * care that was due by then is skipped.
   *
   * @throws ApiError plant_not_found, plant_archived or schedule_not_found (400), validation_error if the plant does
   *   not need such care
   */
  skip(tx: Transaction, body: SkipCare): Promise<Postponed> {
    return this.#decide(tx, body, {});
  }

  /**
   * Makes care due on a day until it is done; null undoes a snooze or skip. Of several plants only care
   * that was due before that day is put off; none is brought forward.
   *
   * @throws ApiError as {@link skip}; validation_error for a day before that of `at` or one too far ahead
   */
  async snooze(tx: Transaction, { until, ...body }: SnoozeCare): Promise<Postponed> {
    if (until !== null) {
      const first = calendarOf(tx.account.timezone)(body.at ?? tx.now);
      if (until < first) throw fieldError('until', `until must not be before ${first}.`);
      if (until > addDays(todayOf(tx), MAX_SNOOZE_DAYS)) {
        throw fieldError('until', `until must be at most ${MAX_SNOOZE_DAYS} days ahead.`);
      }
    }
    return this.#decide(tx, body, { until });
  }

  /** Adds a decision to the care that a request names. One without effect counts too, once earlier acts arrive. */
  async #decide(
    tx: Transaction,
    { at, dueOn, ...body }: CareChoice & Decided,
    what: Pick<Decision, 'until'>,
  ): Promise<Postponed> {
    const { now, revision, account, by } = tx;
    const decision: Decision = {
      ...(at ? { at } : { at: now, revision }),
      ...what,
      zone: account.timezone,
      ...(dueOn !== undefined && { dueOn }),
      ...(isOfSeveral(body) && { ofSeveral: true }),
      ...(by && { by }),
    };
    const { needs } = await this.#choose(tx, body);
    const mayBeDue = ({ history }: Need): boolean => isEverDue(history, decision);
    if (!isOfSeveral(body) && !needs.some(mayBeDue)) {
      throw body.scheduleId === undefined
        ? fieldError('type', 'type must be care for which the plant has a frequency or schedule.')
        : fieldError('scheduleId', 'scheduleId must name a schedule whose care is due.');
    }
    const all: Need[] = [];
    const changed: Need[] = [];
    const unchanged: Need[] = [];
    for (const { history, ...need } of needs) {
      const after = { ...need, ...timed({ ...history, acts: [...history.acts, decision] }) };
      all.push(after);
      (isDeepStrictEqual(need.standing, after.standing) ? unchanged : changed).push(after);
    }
    await this.#care.decide(tx, changed, decision, true);
    await this.#care.decide(tx, unchanged, decision, false);
    const isShort = isOfSeveral(body) && dueOn === undefined;
    const items = dueBy(isShort ? changed : all, todayOf(tx), LAST_DAY);
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

/** Whether a decision has something to decide about: not if care is never due again and no day is named. */
function isEverDue(history: History, decision: Decision): boolean {
  const { dueOn, until } = decision;
  if (dueOn !== undefined || until === null || isEnded(decision, history.last)) return true;
  let isDue = false;
  standing({ ...history, acts: [...history.acts, decision] }, (act, day) => {
    if (act === decision) isDue = day !== undefined;
  });
  return isDue;
}
