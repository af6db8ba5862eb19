import Joi from 'joi';

import type { Calendar } from '../../src/core/time';
import type { StoredId } from '../../src/core/ids';
import type { ChangedList } from '../../src/data/changes/changes';
import { day, id, nullable } from '../../src/fields/joi';
import { author, eventType } from '../events';
import { type PlantDocument, RECURRING_CARE, type RecurringCare } from '../plants';
import type { Act, History, Standing, StoredSnooze } from './acts';
import type { Rule } from './schedules/days';
import type { ScheduleDocument } from './schedules/schema';

/** The fields of a plant for the acts of its frequencies. */
const FIELDS = {
  watered: {
    acts: 'wateringActs',
    until: 'wateringSnoozedUntil',
    skippedOn: 'wateringSkippedOn',
    setAt: 'wateringSnoozedAt',
  },
  fertilized: {
    acts: 'fertilizerActs',
    until: 'fertilizerSnoozedUntil',
    skippedOn: 'fertilizerSkippedOn',
    setAt: 'fertilizerSnoozedAt',
  },
} as const;
type Fields = (typeof FIELDS)[RecurringCare];

export const ACT_FIELDS = Object.values(FIELDS).flatMap((fields) => Object.values(fields));

/** A plant with the acts of its frequencies; the fields are missing until the first. */
export type SnoozedPlant = Pick<
  PlantDocument,
  | 'archivedAt'
  | 'createdAt'
  | (typeof RECURRING_CARE)[RecurringCare][keyof (typeof RECURRING_CARE)['watered']]
> & { _id: StoredId } & Partial<
    Record<Fields['acts'], readonly Act[]> &
      Record<Fields['until' | 'skippedOn'], string | null> &
      Record<Fields['setAt'], Date | null>
  >;

/** The fields of a schedule for its history. */
type SnoozedSchedule = Rule &
  Pick<ScheduleDocument, 'last' | 'acts' | 'snoozedUntil' | 'skippedOn' | 'snoozedAt'>;

/** The path under which a plant stores the acts of a frequency. */
export function actsPath(type: RecurringCare): string {
  return FIELDS[type].acts;
}

/** The acts of a care as they are stored. */
export type StoredHistory = Pick<History, 'acts'> & StoredSnooze;

/** The acts of a frequency of a plant. */
export function historyFieldsOf(plant: SnoozedPlant, type: RecurringCare): StoredHistory {
  const { acts, until, skippedOn, setAt } = FIELDS[type];
  return {
    acts: plant[acts] ?? [],
    until: plant[until] ?? null,
    skippedOn: plant[skippedOn] ?? null,
    setAt: plant[setAt] ?? null,
  };
}

/** The acts of a schedule. */
export function historyFieldsOfSchedule({
  acts = [],
  snoozedUntil: until,
  skippedOn,
  snoozedAt: setAt,
}: Omit<SnoozedSchedule, keyof Rule | 'last'>): StoredHistory {
  return { acts, until, skippedOn, setAt };
}

/** The same as fields of a plant. */
export function fieldsOfHistory(type: RecurringCare, history: StoredHistory): object {
  const { acts, until, skippedOn, setAt } = FIELDS[type];
  return {
    [acts]: history.acts,
    [until]: history.until,
    [skippedOn]: history.skippedOn,
    [setAt]: history.setAt,
  };
}

/** The history of a frequency of a plant. */
export function historyOf(plant: SnoozedPlant, type: RecurringCare, dayOf: Calendar): History {
  const { acts, ...stored } = historyFieldsOf(plant, type);
  const { everyDays, last: lastField } = RECURRING_CARE[type];
  // Plants without care may lack the field.
  const last = plant[lastField] ?? null;
  const startOn = last?.on ?? dayOf(plant.createdAt);
  const always = { weekdays: null, months: null, seasons: [], endOn: null };
  return {
    rule: { everyDays: plant[everyDays], startOn, ...always },
    last,
    acts,
    stored,
    ...(!last && { addedAt: plant.createdAt }),
  };
}

/** The history of a schedule. */
export function historyOfSchedule(schedule: SnoozedSchedule): History {
  const { acts, ...stored } = historyFieldsOfSchedule(schedule);
  return { rule: schedule, last: schedule.last, acts, stored };
}

/** A snooze or skip in `GET /api/changes`. */
export interface SnoozeView
  extends Partial<Pick<Standing, 'skippedOn'>>, Pick<Standing, 'until' | 'by'> {
  plantId: string;
  type: string;
  scheduleId?: string;
}

/**
 * The list of snoozes and skips in `GET /api/changes`.
 *
 * @param snoozesOf returns those of some plants
 */
export function snoozeChanges(
  snoozesOf: (
    tenant: Parameters<ChangedList['present']>[0],
    plants: readonly SnoozedPlant[],
  ) => Promise<SnoozeView[]>,
): ChangedList {
  return {
    name: 'snoozes',
    kind: 'plant',
    description:
      'Snoozes and skips of the active plants in this response; a plant without one here has none',
    view: Joi.object({
      plantId: id().required(),
      type: eventType.required(),
      until: nullable(day()).required().description('null for a skip'),
      scheduleId: id().description('Only for a schedule'),
      skippedOn: day().description('Only for a skip: the care counts as done on this day'),
      by: author,
    }),
    // A list of the kind `plant` gets plants.
    present: (tenant, plants) =>
      snoozesOf(tenant, plants as (SnoozedPlant & (typeof plants)[number])[]),
  };
}
