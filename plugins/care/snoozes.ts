import Joi from 'joi';

import type { DatedMoment } from '../../src/core/dated-moment';
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

/** What was said of the next time that care is due; at most one of both days is set. */
export interface Snooze {
  /** Care is due on this day. */
  until: string | null;
  /** Care was not needed then, and counts as done on this day. */
  skippedOn: string | null;
  setAt: Date | null;
}

/** Where a plant keeps the snoozes of its own frequencies. */
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

/** A plant with its snoozes: they are missing until the first is set. */
export type SnoozedPlant = Pick<
  PlantDocument,
  'archivedAt' | (typeof RECURRING_CARE)[RecurringCare][keyof (typeof RECURRING_CARE)['watered']]
> & { _id: StoredId } & Partial<
    Record<Fields['until' | 'skippedOn'], string | null> & Record<Fields['setAt'], Date | null>
  >;

/** What was said of care by a frequency of a plant. */
export function snoozeOf(plant: SnoozedPlant, type: RecurringCare): Snooze {
  const { until, skippedOn, setAt } = FIELDS[type];
  return {
    until: plant[until] ?? null,
    skippedOn: plant[skippedOn] ?? null,
    setAt: plant[setAt] ?? null,
  };
}

/** What was said of care of a schedule. */
export function snoozeOfSchedule(
  schedule: Pick<ScheduleDocument, 'snoozedUntil' | 'skippedOn' | 'snoozedAt'>,
): Snooze {
  const { snoozedUntil: until, skippedOn, snoozedAt: setAt } = schedule;
  return { until, skippedOn, setAt };
}

/**
 * What of a snooze stands: it does until such care is done after the moment at which it was set, and a
 * skip until care of a later day. That follows from the events that there are, so nothing ends it for good.
 */
export function standing(
  { until, skippedOn, setAt }: Snooze,
  last: DatedMoment | null,
): Pick<Snooze, 'until' | 'skippedOn'> {
  const isOver = !setAt || (last !== null && last.at > setAt);
  const counts = skippedOn !== null && skippedOn > (last?.on ?? '');
  return { until: isOver ? null : until, skippedOn: counts ? skippedOn : null };
}

/** A snooze as a plant keeps it. */
export function snoozeFields(type: RecurringCare, snooze: Snooze): object {
  const { until, skippedOn, setAt } = FIELDS[type];
  return { [until]: snooze.until, [skippedOn]: snooze.skippedOn, [setAt]: snooze.setAt };
}

export const NOTHING: Snooze = { until: null, skippedOn: null, setAt: null };

/** The snoozes that end with the frequencies that a change clears. */
export function clearedSnoozes(change: UpdatePlant): object {
  const cleared = RECURRING_TYPES.filter((type) => change[RECURRING_CARE[type].everyDays] === null);
  return Object.assign({}, ...cleared.map((type) => snoozeFields(type, NOTHING))) as object;
}

/** A snooze as copies keep it. */
export interface SnoozeView extends Partial<Pick<Snooze, 'skippedOn'>>, Pick<Snooze, 'until'> {
  plantId: string;
  type: string;
  scheduleId?: string;
}

/**
 * The snoozes that stand, of the plants that changed.
 *
 * @param snoozesOf finds those of some plants
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
      'Care of the active plants in this answer that is snoozed or skipped: a plant in it without any has none any more',
    view: Joi.object({
      plantId: id().required(),
      type: eventType.required(),
      until: nullable(day()).required().description('null where the care was skipped'),
      scheduleId: id().description('Only for care of a schedule'),
      skippedOn: day().description('Only where it was skipped: it counts as done on this day'),
    }),
    // What is listed with plants gets plants.
    present: (tenant, plants) => snoozesOf(tenant, plants as unknown as SnoozedPlant[]),
  };
}
