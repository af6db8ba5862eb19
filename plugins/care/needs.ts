import { type Calendar, calendarOf, dayNumber } from '../../src/core/time';
import { idText } from '../../src/core/ids';
import type { Transaction } from '../../src/data/writing/transaction';
import type { EventType } from '../events';
import { type PlantDocument, RECURRING_CARE, RECURRING_TYPES, type RecurringCare } from '../plants';
import { type History, type Standing, standing } from './acts';
import { type CareSoFar, daysBetween, dueDays, firstDueDay, type Rule } from './schedules/days';
import type { Care, ScheduleDocument } from './schedules/schema';
import type { CareItem } from './schema';
import { historyOf, historyOfSchedule, type SnoozedPlant } from './snoozes';

/** The fields of a plant that determine its care. */
export type CaredPlant = SnoozedPlant & Pick<PlantDocument, 'name' | 'location'>;
/** The fields of a schedule that determine when care is due. */
export type CaringSchedule = Rule &
  Pick<ScheduleDocument, '_id' | 'plantId' | 'care' | 'label' | 'active' | 'last' | 'acts'> &
  Pick<ScheduleDocument, 'snoozedUntil' | 'skippedOn' | 'snoozedAt'>;

/** Recurring care that a plant needs. */
export interface Need {
  plant: CaredPlant;
  /** Undefined for a frequency of the plant. */
  schedule: CaringSchedule | undefined;
  care: Care;
  history: History;
  standing: Standing;
}

/** What determines the days on which care is due. */
type Timed = Pick<Need, 'history' | 'standing'>;

/**
 * The needs of a plant: by its frequencies, then by its schedules that are active and not over. Such a
 * schedule replaces the frequency of the same care.
 */
export function needsOf(
  plant: CaredPlant,
  schedules: readonly CaringSchedule[],
  today: string,
  dayOf: Calendar,
): Need[] {
  const holding = schedules.filter((schedule) => isInForce(schedule, today));
  const own = RECURRING_TYPES.filter((type) => !holding.some(({ care }) => care === type));
  return [
    ...own.flatMap((type) => ownNeed(plant, type, dayOf) ?? []),
    ...holding.map((schedule) => {
      return { plant, schedule, care: schedule.care, ...timed(historyOfSchedule(schedule)) };
    }),
  ];
}

/** Whether a schedule is active and not over. */
function isInForce({ active, endOn }: CaringSchedule, today: string): boolean {
  return active && (endOn === null || endOn >= today);
}

/** The day on which the care of a schedule is due, whatever the plant is; null if it never is again. */
export function dueOnOf(schedule: CaringSchedule, today: string): string | null {
  if (!isInForce(schedule, today)) return null;
  return firstDayOf(timed(historyOfSchedule(schedule))) ?? null;
}

function ownNeed(plant: CaredPlant, type: RecurringCare, dayOf: Calendar): Need | undefined {
  if (plant[RECURRING_CARE[type].everyDays] === null) return undefined;
  return { plant, schedule: undefined, care: type, ...timed(historyOf(plant, type, dayOf)) };
}

/** Care with what stands of its history. */
export function timed(history: History): Timed {
  return { history, standing: standing(history) };
}

/** The days on which care is due, in order. */
export function daysOf(need: Need, today: string): Generator<string, undefined> {
  return dueDays(need.history.rule, soFarOf(need), today);
}

/** The first of these days; undefined if care is never due again. */
export function firstDayOf(need: Timed): string | undefined {
  return firstDueDay(need.history.rule, soFarOf(need));
}

function soFarOf({ history: { last }, standing: { until, skippedOn } }: Timed): CareSoFar {
  return { lastOn: last?.on ?? null, skippedOn, snoozedUntil: until };
}

/** The day of a call in the account's time zone. */
export function todayOf({ account, now }: Pick<Transaction, 'account' | 'now'>): string {
  return calendarOf(account.timezone)(now);
}

/** The type of the event that logs care. */
export function typeOf(care: Care): EventType {
  return care === 'other' ? 'note' : care;
}

/** The item of care that is due on a day. */
export function itemOf(need: Need, dueOn: string, today: string): CareItem {
  const { plant, schedule, care, history, standing } = need;
  const { rule, last } = history;
  const { until, by } = standing;
  return {
    plantId: idText(plant._id),
    plantName: plant.name,
    location: plant.location,
    type: typeOf(care),
    everyDays: daysBetween(rule, dueOn),
    lastDone: last?.at ?? null,
    dueOn,
    daysOverdue: dayNumber(today) - dayNumber(dueOn),
    snoozedUntil: until === dueOn ? until : null,
    scheduleId: schedule ? idText(schedule._id) : null,
    care,
    label: schedule?.label ?? null,
    ...(by && until === dueOn && { by }),
  };
}
