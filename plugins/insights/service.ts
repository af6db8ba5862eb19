import type { ClientSession } from 'mongoose';

import type { Transaction } from '../../src/data/transaction';
import type { Account } from '../../src/identity';
import { idText, type StoredId } from '../../src/ids';
import type { Host } from '../../src/plugins/manifest';
import type { Removals } from '../events/removals';
import type { CareFacts } from '../events/facts';
import type { EventService } from '../events/service';
import type { PlantService, PlantSummary } from '../plants/service';
import { addDays, calendarOf, WEEKDAYS, weekdayOf } from './calendar';
import type { CareDays, DayCounts } from './care-days';
import type { GrowthTotals } from './growth';
import type { GrowthDocument } from './model';
import type { InsightsView } from './schema';

const DAY_MS = 24 * 60 * 60 * 1000;
/** How far back `careActivityByDay` goes, today included. */
const ACTIVITY_DAYS = 365;

interface Parts {
  plants: PlantService;
  events: EventService;
  removals: Removals;
  careDays: CareDays;
  growth: GrowthTotals;
}

/** What a person's care adds up to (section 2.11; decisions.md, "Insights"). */
export class InsightService {
  constructor(
    private readonly host: Host,
    private readonly parts: Parts,
  ) {}

  async read(account: Account, now: Date): Promise<InsightsView> {
    const { plants, careDays, growth } = this.parts;
    return this.host.snapshot(async (session) => {
      const gardens = await plants.summaries(account.id, session);
      const counts = await careDays.read(account.id, session);
      const totals = await growth.read(account.id, session);
      const dayOf = calendarOf(account.timezone);
      await this.#leaveOutRemoved(account.id, session, counts, dayOf);
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

  /** Computes day counts anew, for a time zone; says each difference. */
  async rebuildDays(tx: Transaction, timezone = tx.account.timezone): Promise<string[]> {
    const facts = this.#factsOf(tx, { ofRemovedPlants: true });
    return this.parts.careDays.rebuild(tx, facts, timezone);
  }

  /** Computes growth totals anew; says each difference. */
  async rebuildGrowth(tx: Transaction): Promise<string[]> {
    return this.parts.growth.rebuild(tx, this.#factsOf(tx, { type: 'growth' }));
  }

  /** Events of plants that were removed are counted until they are marked deleted. */
  async #leaveOutRemoved(
    userId: string,
    session: ClientSession,
    counts: DayCounts,
    dayOf: (moment: Date) => string,
  ): Promise<void> {
    for await (const { type, occurredAt } of this.parts.removals.pending(userId, session)) {
      counts.add(dayOf(occurredAt), type, -1);
    }
  }

  async *#factsOf(
    tx: Transaction,
    { ofRemovedPlants = false, type }: { ofRemovedPlants?: boolean; type?: 'growth' },
  ): AsyncGenerator<CareFacts & { plantId: StoredId }> {
    const { account, session } = tx;
    const known = await this.parts.plants.summaries(account.id, session);
    const ids = new Set(known.map(({ id }) => id));
    if (ofRemovedPlants) {
      for (const id of await this.parts.removals.plantIds(account.id, session)) ids.add(id);
    }
    for await (const event of this.parts.events.facts(account.id, session, type && { type })) {
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
