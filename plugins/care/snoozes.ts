import Joi from 'joi';

import type { DatedMoment } from '../../src/core/time';
import type { StoredId } from '../../src/core/ids';
import type { ChangedList } from '../../src/data/changes/changes';
import { day, id, nullable } from '../../src/fields/joi';
import { eventType } from '../events';
import {
  type PlantDocument,
  RECURRING_CARE,
  RECURRING_TYPES,
  type RecurringCare,
  type UpdatePlant,
} from '../plants';
import type { ScheduleDocument } from './schedules/schema';

/** How the next occurrence of care was postponed; at most one of the two days is set. */
export interface Snooze {
  /** Care is due on this day. */
  until: string | null;
  /** Care was skipped, and counts as done on this day. */
  skippedOn: string | null;
  setAt: Date | null;
}

/** The fields of a plant for the snoozes of its frequencies. */
const FIELDS = {
  watered: {
    until: 'wateringSnoozedUntil',
    skippedOn: 'wateringSkippedOn',
    setAt: 'wateringSnoozedAt',
  },
  fertilized: {
    until: 'fertilizerSnoozedUntil',
    skippedOn: 'fertilizerSkippedOn',
    setAt: 'fertilizerSnoozedAt',
  },
} as const;
type Fields = (typeof FIELDS)[RecurringCare];

export const SNOOZE_FIELDS = Object.values(FIELDS).flatMap((fields) => Object.values(fields));

/** A plant with its snoozes; the fields are missing until the first is set. */
export type SnoozedPlant = Pick<
  PlantDocument,
  'archivedAt' | (typeof RECURRING_CARE)[RecurringCare][keyof (typeof RECURRING_CARE)['watered']]
> & { _id: StoredId } & Partial<
    Record<Fields['until' | 'skippedOn'], string | null> & Record<Fields['setAt'], Date | null>
  >;

/** The snooze of a frequency of a plant. */
export function snoozeOf(plant: SnoozedPlant, type: RecurringCare): Snooze {
  const { until, skippedOn, setAt } = FIELDS[type];
  return {
    until: plant[until] ?? null,
    skippedOn: plant[skippedOn] ?? null,
    setAt: plant[setAt] ?? null,
  };
}

/** The snooze of a schedule. */
export function snoozeOfSchedule(
  schedule: Pick<ScheduleDocument, 'snoozedUntil' | 'skippedOn' | 'snoozedAt'>,
): Snooze {
  const { snoozedUntil: until, skippedOn, snoozedAt: setAt } = schedule;
  return { until, skippedOn, setAt };
}

/**
 * What still stands of a snooze or skip. A snooze stands until care is done after the moment at which it
 * was set, a skip until care on a later day. Both follow from the events, so undoing an event restores them.
 */
export function standing(
  { until, skippedOn, setAt }: Snooze,
  last: DatedMoment | null | undefined,
): Pick<Snooze, 'until' | 'skippedOn'> {
  // Plants without care may lack the field.
  const isOver = !setAt || (last ? last.at > setAt : false);
  const counts = skippedOn !== null && skippedOn > (last?.on ?? '');
  return { until: isOver ? null : until, skippedOn: counts ? skippedOn : null };
}

/** A snooze as fields of a plant. */
export function snoozeFields(type: RecurringCare, snooze: Snooze): object {
  const { until, skippedOn, setAt } = FIELDS[type];
  return { [until]: snooze.until, [skippedOn]: snooze.skippedOn, [setAt]: snooze.setAt };
}

export const NOTHING: Snooze = { until: null, skippedOn: null, setAt: null };

/** The fields that clear the snoozes of frequencies which a change clears. */
export function clearedSnoozes(change: UpdatePlant): object {
  const cleared = RECURRING_TYPES.filter((type) => change[RECURRING_CARE[type].everyDays] === null);
  return Object.assign({}, ...cleared.map((type) => snoozeFields(type, NOTHING))) as object;
}

/** A snooze or skip in `GET /api/changes`. */
export interface SnoozeView extends Partial<Pick<Snooze, 'skippedOn'>>, Pick<Snooze, 'until'> {
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
    }),
    // A list of the kind `plant` gets plants.
    present: (tenant, plants) =>
      snoozesOf(tenant, plants as (SnoozedPlant & (typeof plants)[number])[]),
  };
}
