import { DAY_MS } from '../../src/core/time';
import { dayAfter, dayOf } from './days';
import { type Garden, latest, order } from './model';
import type { Plant } from './records';

const FREQUENCIES = {
  watered: 'wateringFrequencyDays',
  fertilized: 'fertilizerFrequencyDays',
} as const;
export const CARE_TYPES = ['watered', 'fertilized'] as const;
export type CareType = (typeof CARE_TYPES)[number];

/** Care of a plant as in `GET /api/care`; undefined if the plant has no frequency. */
export function careItemOf(garden: Garden, plant: Plant, type: CareType, now: Date) {
  const everyDays = plant.fields[FREQUENCIES[type]];
  if (typeof everyDays !== 'number') return undefined;
  const { timezone } = garden.account;
  const last = latest(garden.eventsOf(plant.id).filter((event) => event.type === type));
  const lastDone = last?.occurredAt ?? null;
  const regular = last ? dayAfter(last.day, everyDays) : dayOf(plant.createdAt, timezone);
  const snooze = garden.snoozes.get(`${plant.id} ${type}`);
  const snoozedUntil = snooze && (lastDone ?? '') <= snooze.setAt ? snooze.until : null;
  const dueOn = snoozedUntil ?? regular;
  const today = dayOf(now.toISOString(), timezone);
  return {
    plantId: plant.id,
    plantName: plant.fields['name'],
    location: plant.fields['location'],
    type,
    everyDays,
    lastDone,
    dueOn,
    snoozedUntil,
    scheduleId: null,
    care: type,
    label: null,
    daysOverdue: Math.round((Date.parse(today) - Date.parse(dueOn)) / DAY_MS),
  };
}

/** The care that is due by a day, counted from the records (docs/api.md, "Due care"). */
export function dueCareOf(garden: Garden, dueBy: string, now: Date) {
  const items = garden
    .inOrder()
    .flatMap((plant) => CARE_TYPES.flatMap((type) => careItemOf(garden, plant, type, now) ?? []))
    .filter(({ dueOn }) => dueOn <= dueBy)
    .sort((a, b) => order(a.dueOn, b.dueOn));
  return { today: dayOf(now.toISOString(), garden.account.timezone), items };
}
