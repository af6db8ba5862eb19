import { idText, type StoredId } from '../../src/core/ids';
import {
  type PlantDocument,
  RECURRING_CARE,
  RECURRING_TYPES,
  type RecurringCare,
  type UpdatePlant,
} from './schema';

/** Care of a plant that is due on a day of the person's choice. */
export interface Snooze {
  plantId: string;
  type: RecurringCare;
  until: string;
}

type RecurringField =
  (typeof RECURRING_CARE)[RecurringCare][keyof (typeof RECURRING_CARE)['watered']];

/** What a plant has of care that recurs: how often, when it was last done, and its snoozes. */
export type RecurringFields = Pick<PlantDocument, RecurringField>;

/**
 * The day until which care of a plant is snoozed: a snooze stands until such care is done after the
 * moment at which it was set. That follows from the events that there are, so nothing ends it for good.
 */
export function snoozedUntil(plant: RecurringFields, type: RecurringCare): string | null {
  const fields = RECURRING_CARE[type];
  const setAt = plant[fields.snoozedAt];
  const lastDone = plant[fields.lastDone];
  const isOver = !setAt || (lastDone !== null && lastDone > setAt);
  return isOver ? null : plant[fields.snoozedUntil];
}

/** The snoozes of a plant that stand. */
export function snoozesOf(plant: RecurringFields & { _id: StoredId }): Snooze[] {
  return RECURRING_TYPES.flatMap((type) => {
    const until = snoozedUntil(plant, type);
    return until === null ? [] : [{ plantId: idText(plant._id), type, until }];
  });
}

/** A snooze as it is stored, or none. */
export function snoozeFields(
  type: RecurringCare,
  snooze: { until: string; setAt: Date } | null,
): Partial<RecurringFields> {
  const fields = RECURRING_CARE[type];
  return {
    [fields.snoozedUntil]: snooze?.until ?? null,
    [fields.snoozedAt]: snooze?.setAt ?? null,
  };
}

/** What goes with the frequencies that a change clears: without one there is nothing to snooze. */
export function clearedSnoozes(change: UpdatePlant): Partial<RecurringFields> {
  return {
    ...(change.wateringFrequencyDays === null && snoozeFields('watered', null)),
    ...(change.fertilizerFrequencyDays === null && snoozeFields('fertilized', null)),
  };
}
