import Joi from 'joi';

import { idText, type StoredId } from '../../src/core/ids';
import type { ChangedList } from '../../src/data/changes';
import { day, id, oneOf } from '../../src/fields/joi';
import {
  type PlantDocument,
  RECURRING_CARE,
  RECURRING_TYPES,
  type RecurringCare,
  type UpdatePlant,
} from '../plants';

/** Where a plant keeps its snoozes: the day that care is due on, and when that was set. */
const FIELDS = {
  watered: { until: 'wateringSnoozedUntil', setAt: 'wateringSnoozedAt' },
  fertilized: { until: 'fertilizerSnoozedUntil', setAt: 'fertilizerSnoozedAt' },
} as const;
type Fields = (typeof FIELDS)[RecurringCare];

export const SNOOZE_FIELDS = Object.values(FIELDS).flatMap((fields) => Object.values(fields));

/** A plant with its snoozes: they are missing until the first is set. */
export type SnoozedPlant = Pick<
  PlantDocument,
  'archivedAt' | (typeof RECURRING_CARE)[RecurringCare][keyof (typeof RECURRING_CARE)['watered']]
> & { _id: StoredId } & Partial<
    Record<Fields['until'], string | null> & Record<Fields['setAt'], Date | null>
  >;

/**
 * The day until which care of a plant is snoozed: a snooze stands until such care is done after the
 * moment at which it was set. That follows from the events that there are, so nothing ends it for good.
 */
export function snoozedUntil(plant: SnoozedPlant, type: RecurringCare): string | null {
  const setAt = plant[FIELDS[type].setAt];
  const lastDone = plant[RECURRING_CARE[type].lastDone];
  const isOver = !setAt || (lastDone !== null && lastDone > setAt);
  return isOver ? null : (plant[FIELDS[type].until] ?? null);
}

/** A snooze as a plant keeps it, or none. */
export function snoozeFields(type: RecurringCare, until: string | null, now: Date): object {
  const fields = FIELDS[type];
  return { [fields.until]: until, [fields.setAt]: until === null ? null : now };
}

/** The snoozes that end with the frequencies that a change clears. */
export function clearedSnoozes(change: UpdatePlant, now: Date): object {
  const cleared = RECURRING_TYPES.filter((type) => change[RECURRING_CARE[type].everyDays] === null);
  return Object.assign({}, ...cleared.map((type) => snoozeFields(type, null, now))) as object;
}

/** The snoozes that stand, of the plants that changed. */
export const snoozeChanges: ChangedList = {
  name: 'snoozes',
  kind: 'plant',
  description:
    'Care of the active plants in this answer that is snoozed: a plant in it without any has none any more',
  view: Joi.object({
    plantId: id().required(),
    type: oneOf(RECURRING_TYPES).required(),
    until: day().required(),
  }),
  present: async (_scope, plants) =>
    // What is listed with plants gets plants.
    (plants as unknown as SnoozedPlant[]).flatMap((plant) =>
      RECURRING_TYPES.flatMap((type) => {
        const until = plant.archivedAt ? null : snoozedUntil(plant, type);
        return until === null ? [] : [{ plantId: idText(plant._id), type, until }];
      }),
    ),
};
