import { dayAfter, dayOf } from './days';
import { byMoment, type Garden, order } from './model';
import type { CareEvent } from './records';
import { DAY_MS } from '../../src/core/time';

const WEEKDAYS = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
] as const;

/** The insights of an account (docs/specification.md, 2.11; docs/api.md, "Insights"), computed from its
 * records. Lists without a specified order are sorted by their JSON.
 */
export function insightsOf(garden: Garden, now: Date) {
  const plants = [...garden.plants.values()];
  const events = [...garden.events.values()];
  const today = dayOf(now.toISOString(), garden.account.timezone);
  const firstPlant = plants.map(({ createdAt }) => Date.parse(createdAt)).sort((a, b) => a - b)[0];
  return {
    overview: {
      totalPlants: plants.length,
      totalEvents: events.length,
      totalPhotos: garden.photos.size,
      daysSinceFirstPlant:
        firstPlant === undefined ? null : Math.floor((now.getTime() - firstPlant) / DAY_MS),
      mostActiveDay: mostActive(events.map(({ day }) => day)),
    },
    careActivityByDay: activity(events, today),
    wateringStreaks: streaks(
      events.flatMap(({ type, day }) => (type === 'watered' ? day : [])),
      today,
    ),
    speciesDistribution: tally(plants.map(({ fields }) => fields['species']))
      .map(([species, count]) => ({ species, count }))
      .sort(byText),
    growthTracking: plants.flatMap((plant) => growth(garden, plant.id)).sort(byText),
  };
}

/** The number of days between two days. */
function distance(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

function tally<T>(values: readonly T[]): [T, number][] {
  return [...new Set(values)].map((one) => [one, values.filter((other) => other === one).length]);
}

function mostActive(days: readonly string[]): string | null {
  const weekdays = days.map((day) => (new Date(day).getUTCDay() + 6) % 7);
  const ranked = tally(weekdays).sort(([a, m], [b, n]) => n - m || a - b);
  return ranked[0] ? (WEEKDAYS[ranked[0][0]] ?? null) : null;
}

function activity(events: readonly CareEvent[], today: string) {
  const recent = events.filter(({ day }) => {
    const age = distance(day, today);
    return age >= 0 && age < 365;
  });
  return tally(recent.map(({ day, type }) => `${day} ${type}`))
    .sort(([a], [b]) => order(a, b))
    .map(([key, count]) => ({ date: key.slice(0, 10), type: key.slice(11), count }));
}

function streaks(watered: readonly string[], today: string) {
  const days = new Set(watered);
  const lengthFrom = (day: string, step: 1 | -1): number =>
    days.has(day) ? 1 + lengthFrom(dayAfter(day, step), step) : 0;
  /** The run of days with a watering around a day with one. */
  const runAround = (day: string): number =>
    days.has(day) ? lengthFrom(day, -1) + lengthFrom(day, 1) - 1 : 0;
  return {
    currentStreak: runAround(today) || runAround(dayAfter(today, -1)),
    longestStreak: Math.max(0, ...[...days].map(runAround)),
    lastWateredDate: [...days].sort().at(-1) ?? null,
  };
}

function growth(garden: Garden, plantId: string) {
  const measured = garden
    .eventsOf(plantId)
    .filter(({ type, growthAmount }) => type === 'growth' && growthAmount !== null);
  return tally(measured.map(({ growthUnit }) => growthUnit)).map(([unit, measurements]) => {
    const ofUnit = measured.filter(({ growthUnit }) => growthUnit === unit);
    const inOrder = ofUnit.sort(byMoment);
    return {
      plantId,
      plantName: garden.plants.get(plantId)?.fields['name'],
      unit,
      // Amounts are in hundredths, so this sum is exact.
      total: ofUnit.reduce((sum, one) => sum + Math.round((one.growthAmount ?? 0) * 100), 0) / 100,
      measurements,
      firstDate: inOrder[0]?.day,
      lastDate: inOrder.at(-1)?.day,
    };
  });
}

/** An order for lists without a specified one: by JSON, whatever the order of keys. */
export function byText(a: object, b: object): number {
  const text = (one: object) => JSON.stringify(Object.entries(one).sort());
  return order(text(a), text(b));
}
