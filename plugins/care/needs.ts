import { type Calendar, calendarOf, type DatedMoment, dayNumber } from '../../src/core/time';
import { idText } from '../../src/core/ids';
import type { Transaction } from '../../src/data/writing/transaction';
import type { EventType } from '../events';
import { type PlantDocument, RECURRING_CARE, RECURRING_TYPES, type RecurringCare } from '../plants';
import { type CareSoFar, daysBetween, dueDays, firstDueDay, type Rule } from './schedules/days';
import type { Care, ScheduleDocument } from './schedules/schema';
import type { CareItem } from './schema';
import { type Snooze, type SnoozedPlant, snoozeOf, snoozeOfSchedule, standing } from './snoozes';

/** The fields of a plant that determine its care. */
export type CaredPlant = SnoozedPlant & Pick<PlantDocument, 'name' | 'location' | 'createdAt'>;
/** The fields of a schedule that determine when care is due. */
export type CaringSchedule = Rule &
  Pick<ScheduleDocument, '_id' | 'plantId' | 'care' | 'label' | 'active' | 'last'> &
  Pick<ScheduleDocument, 'snoozedUntil' | 'skippedOn' | 'snoozedAt'>;

/** Recurring care that a plant needs. */
export interface Need {
  plant: CaredPlant;
  /** Undefined for a frequency of the plant. */
  schedule: CaringSchedule | undefined;
  care: Care;
  rule: Rule;
  last: DatedMoment | null;
  snooze: Snooze;
}

/** What determines the days on which care is due. */
type Timed = Pick<Need, 'rule' | 'last' | 'snooze'>;

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
    ...holding.map((schedule) => ({
      plant,
      schedule,
      care: schedule.care,
      rule: schedule,
      last: schedule.last,
      snooze: snoozeOfSchedule(schedule),
    })),
  ];
}

/** Whether a schedule is active and not over. */
function isInForce({ active, endOn }: CaringSchedule, today: string): boolean {
  return active && (endOn === null || endOn >= today);
}

/** The day on which the care of a schedule is due, whatever the plant is; null if it never is again. */
export function dueOnOf(schedule: CaringSchedule, today: string): string | null {
  if (!isInForce(schedule, today)) return null;
  const { last } = schedule;
  return firstDayOf({ rule: schedule, last, snooze: snoozeOfSchedule(schedule) }) ?? null;
}

function ownNeed(plant: CaredPlant, type: RecurringCare, dayOf: Calendar): Need | undefined {
  const fields = RECURRING_CARE[type];
  const everyDays = plant[fields.everyDays];
  if (everyDays === null) return undefined;
  const last = plant[fields.last];
  const startOn = last?.on ?? dayOf(plant.createdAt);
  const always = { weekdays: null, months: null, seasons: [], endOn: null };
  const rule = { everyDays, startOn, ...always };
  const snooze = snoozeOf(plant, type);
  return { plant, schedule: undefined, care: type, rule, last, snooze };
}

/** The days on which care is due, in order. */
export function daysOf(need: Need, today: string): Generator<string, undefined> {
  return dueDays(need.rule, soFarOf(need), today);
}

/** The first of these days; undefined if care is never due again. */
export function firstDayOf(need: Timed): string | undefined {
  return firstDueDay(need.rule, soFarOf(need));
}

function soFarOf({ last, snooze }: Timed): CareSoFar {
  const { until, skippedOn } = standing(snooze, last);
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
  const { plant, schedule, care, rule, last, snooze } = need;
  const { until } = standing(snooze, last);
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
  };
}
