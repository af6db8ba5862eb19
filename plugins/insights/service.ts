import type { ClientSession } from 'mongoose';

import type { Transaction } from '../../src/data/transaction';
import type { Account } from '../../src/core/identity';
import { idText, type StoredId } from '../../src/core/ids';
import type { Host } from '../../src/plugins/host';
import type { CareEntry, Deletions, Events } from '../events';
import type { Plants, PlantSummary } from '../plants';
import { addDays, calendarOf, DAY_MS } from '../../src/core/time';
import { WEEKDAYS, weekdayOf } from './weekdays';
import type { CareDays, DayCounts } from './care-days';
import type { GrowthTotals } from './growth';
import type { GrowthDocument } from './model';
import type { InsightsView } from './schema';

/** How far back `careActivityByDay` goes, today included. */
const ACTIVITY_DAYS = 365;

interface Dependencies {
  plants: Plants;
  events: Events;
  deletions: Deletions;
  careDays: CareDays;
  growth: GrowthTotals;
}

/** What a person's care adds up to (docs/specification.md, 2.11; docs/decisions.md, "Insights"). */
export class InsightService {
  constructor(
    private readonly host: Host,
    private readonly dependencies: Dependencies,
  ) {}

  async read(account: Account, now: Date): Promise<InsightsView> {
    const { plants, careDays, growth } = this.dependencies;
    return this.host.snapshot(async (session) => {
      const gardens = await plants.summaries(account.id, session);
      const counts = await careDays.read(account.id, session);
      const totals = await growth.read(account.id, session);
      const dayOf = calendarOf(account.timezone);
      await this.#subtractDeleted(account.id, session, counts, dayOf);
      const today = dayOf(now);
      return {
        overview: overview(gardens, counts, account.usage['photos'] ?? 0, now),
        careActivityByDay: activity(counts, today),
        wateringStreaks: streaks(counts, today),
        speciesDistribution: species(gardens),
        growthTracking: tracking(gardens, totals, dayOf),
      };
    });
  }

  /** Recomputes day counts, for a time zone; answers each difference. */
  async rebuildDays(tx: Transaction, timezone = tx.account.timezone): Promise<string[]> {
    const facts = this.#careEntries(tx, { ofDeletedPlants: true });
    return this.dependencies.careDays.rebuild(tx, facts, timezone);
  }

  /** Recomputes growth totals; answers each difference. */
  async rebuildGrowth(tx: Transaction): Promise<string[]> {
    return this.dependencies.growth.rebuild(tx, this.#careEntries(tx, { type: 'growth' }));
  }

  /** Events of plants that were deleted are counted until they are marked deleted. */
  async #subtractDeleted(
    userId: string,
    session: ClientSession,
    counts: DayCounts,
    dayOf: (moment: Date) => string,
  ): Promise<void> {
    for await (const { type, occurredAt } of this.dependencies.deletions.pending(userId, session)) {
      counts.add(dayOf(occurredAt), type, -1);
    }
  }

  async *#careEntries(
    tx: Transaction,
    { ofDeletedPlants = false, type }: { ofDeletedPlants?: boolean; type?: 'growth' },
  ): AsyncGenerator<CareEntry & { plantId: StoredId }> {
    const { account, session } = tx;
    const known = await this.dependencies.plants.summaries(account.id, session);
    const ids = new Set(known.map(({ id }) => id));
    if (ofDeletedPlants) {
      for (const id of await this.dependencies.deletions.plantIds(account.id, session)) ids.add(id);
    }
    for await (const event of this.dependencies.events.careEntries(
      account.id,
      session,
      type && { type },
    )) {
      if (ids.has(idText(event.plantId))) yield event;
    }
  }
}

function overview(
  plants: readonly PlantSummary[],
  counts: DayCounts,
  totalPhotos: number,
  now: Date,
): InsightsView['overview'] {
  const [first] = plants;
  const byWeekday = WEEKDAYS.map(() => 0);
  let totalEvents = 0;
  for (const { date, count } of counts.entries()) {
    totalEvents += count;
    const weekday = weekdayOf(date);
    byWeekday[weekday] = (byWeekday[weekday] ?? 0) + count;
  }
  return {
    totalPlants: plants.length,
    totalEvents,
    totalPhotos,
    daysSinceFirstPlant: first
      ? Math.max(0, Math.floor((now.getTime() - first.createdAt.getTime()) / DAY_MS))
      : null,
    // The first of equals: ties go to the earlier weekday.
    mostActiveDay:
      totalEvents === 0 ? null : (WEEKDAYS[byWeekday.indexOf(Math.max(...byWeekday))] ?? null),
  };
}

function activity(counts: DayCounts, today: string): InsightsView['careActivityByDay'] {
  const first = addDays(today, 1 - ACTIVITY_DAYS);
  return counts.entries().filter(({ date }) => date >= first && date <= today);
}

function streaks(counts: DayCounts, today: string): InsightsView['wateringStreaks'] {
  const days = counts.entries().flatMap(({ date, type }) => (type === 'watered' ? date : []));
  let longestStreak = 0;
  let streak = 0;
  let before = '';
  const lengths = new Map<string, number>();
  for (const day of days) {
    streak = before !== '' && addDays(before, 1) === day ? streak + 1 : 1;
    lengths.set(day, streak);
    longestStreak = Math.max(longestStreak, streak);
    before = day;
  }
  return {
    currentStreak: lengths.get(today) ?? lengths.get(addDays(today, -1)) ?? 0,
    longestStreak,
    lastWateredDate: days.at(-1) ?? null,
  };
}

function tracking(
  plants: readonly PlantSummary[],
  totals: readonly GrowthDocument[],
  dayOf: (moment: Date) => string,
): InsightsView['growthTracking'] {
  const byPlant = new Map<string, GrowthDocument[]>();
  for (const total of totals) {
    const plantId = idText(total.plantId);
    byPlant.set(plantId, [...(byPlant.get(plantId) ?? []), total]);
  }
  return plants.flatMap(({ id, name }) =>
    (byPlant.get(id) ?? []).map(({ unit, total, measurements, firstAt, lastAt }) => ({
      plantId: id,
      plantName: name,
      unit,
      // JSON has no infinity: a sum beyond double range is shown as the largest double.
      total: Math.min(Number(total), Number.MAX_VALUE),
      measurements,
      firstDate: dayOf(firstAt),
      lastDate: dayOf(lastAt),
    })),
  );
}

function species(plants: readonly PlantSummary[]): InsightsView['speciesDistribution'] {
  const counts = new Map<string | null, number>();
  for (const plant of plants) counts.set(plant.species, (counts.get(plant.species) ?? 0) + 1);
  return [...counts]
    .map(([name, count]) => ({ species: name, count }))
    .sort((a, b) => b.count - a.count || ((a.species ?? '') < (b.species ?? '') ? -1 : 1));
}
