import type { ClientSession } from 'mongoose';

import type { Transaction } from '../../src/data/transaction';
import type { Account } from '../../src/core/identity';
import { idText, type StoredId } from '../../src/core/ids';
import type { Host } from '../../src/plugins/host';
import type { ReadCall } from '../../src/plugins/operation';
import type { Events, PendingPlantDeletions } from '../events';
import { PHOTO_QUOTA } from '../photos';
import type { Plants, PlantSummary } from '../plants';
import {
  addDays,
  calendarOf,
  DAY_MS,
  dayAt,
  dayNumber,
  endOfQuarterHour,
} from '../../src/core/time';
import { WEEKDAYS } from './weekdays';
import type { CareDays } from './derived/care-days';
import { type CareSums, DayCounts } from './derived/day-counts';
import type { GrowthTotals } from './derived/growth';
import type { GrowthDocument } from './model';
import { lengthOf, type Run } from './derived/runs';
import type { InsightsQuery, InsightsView } from './schema';

/** How many days `careActivityByDay` has unless others are asked for, today included. */
const ACTIVITY_DAYS = 365;

/** What an event of a deleted plant costs that is not yet marked deleted, as bytes of an answer do. */
const PENDING_EVENT_BYTES = 100;

/** What of a call matters beside what it asks for. */
type Call = Pick<ReadCall<InsightsQuery, never>, 'now' | 'validUntil' | 'countBytes'>;

interface Dependencies {
  plants: Plants;
  events: Events;
  deletions: PendingPlantDeletions;
  careDays: CareDays;
  growth: GrowthTotals;
}

/** What a person's care adds up to (docs/specification.md, 2.11; docs/api.md, "Insights"). */
export class InsightService {
  readonly #host: Host;
  readonly #dependencies: Dependencies;

  constructor(host: Host, dependencies: Dependencies) {
    this.#host = host;
    this.#dependencies = dependencies;
  }

  /** The sections asked for, all of one moment. */
  async read(
    account: Account,
    { sections, from, to }: InsightsQuery,
    { now, validUntil, countBytes }: Call,
  ): Promise<Partial<InsightsView>> {
    const { plants, careDays, growth } = this.#dependencies;
    return this.#host.snapshot(async (session) => {
      const scope = { userId: account.id, session };
      const today = calendarOf(account.timezone)(now);
      const last = to ?? today;
      const days = { first: from ?? addDays(last, 1 - ACTIVITY_DAYS), last, today };
      const deleted = await this.#deleted(scope, countBytes);
      const history = await careDays.read(scope, days, deleted);
      const summaries = await plants.summaries(account.id, session);
      const totals = await growth.read(account.id, session);
      validUntil(endOfQuarterHour(now));
      const [first] = summaries;
      if (first) {
        const nextAge = daysSince(first.createdAt, now) + 1;
        validUntil(new Date(first.createdAt.getTime() + nextAge * DAY_MS));
      }
      const view: InsightsView = {
        overview: overview(summaries, history.sums, account.usage[PHOTO_QUOTA] ?? 0, now),
        careActivityByDay: history.activity,
        wateringStreaks: streaks(history.runs, dayNumber(today)),
        speciesDistribution: species(summaries),
        growthTracking: tracking(summaries, totals),
      };
      if (!sections) return view;
      return Object.fromEntries(sections.map((section) => [section, view[section]]));
    });
  }

  /** Recomputes day counts; answers each difference. */
  async rebuildDays(tx: Transaction): Promise<string[]> {
    const { account, session } = tx;
    const { careDays, deletions, events } = this.#dependencies;
    const deleted = await deletions.plantIds(account.id, session);
    return careDays.rebuild(tx, this.#ofPlants(tx, events.sums.byDay(tx), deleted));
  }

  /** Recomputes growth totals; answers each difference. */
  async rebuildGrowth(tx: Transaction): Promise<string[]> {
    const { events, growth } = this.#dependencies;
    return growth.rebuild(tx, this.#ofPlants(tx, events.sums.growth(tx)));
  }

  /** Events of plants that were deleted, which are counted until they are marked deleted. */
  async #deleted(
    { userId, session }: { userId: string; session: ClientSession },
    countBytes: Call['countBytes'],
  ): Promise<DayCounts> {
    const counts = new DayCounts();
    const pending = this.#dependencies.deletions.pending(userId, session);
    for await (const { type, occurredOn, count } of pending) {
      counts.add(occurredOn, type, count);
      countBytes(PENDING_EVENT_BYTES * count);
    }
    return counts;
  }

  /** Those of plants that are there, or among `others`. */
  async *#ofPlants<Entry extends { plantId: StoredId }>(
    { account, session }: Transaction,
    entries: AsyncIterable<Entry>,
    others: readonly string[] = [],
  ): AsyncGenerator<Entry> {
    const known = await this.#dependencies.plants.summaries(account.id, session);
    const ids = new Set([...known.map(({ id }) => id), ...others]);
    for await (const entry of entries) {
      if (ids.has(idText(entry.plantId))) yield entry;
    }
  }
}

/** Whole periods of 24 hours. */
function daysSince(moment: Date, now: Date): number {
  return Math.max(0, Math.floor((now.getTime() - moment.getTime()) / DAY_MS));
}

function overview(
  plants: readonly PlantSummary[],
  { events: totalEvents, weekdays }: CareSums,
  totalPhotos: number,
  now: Date,
): InsightsView['overview'] {
  const [first] = plants;
  return {
    totalPlants: plants.length,
    totalEvents,
    totalPhotos,
    daysSinceFirstPlant: first ? daysSince(first.createdAt, now) : null,
    // The first of equals: ties go to the earlier weekday.
    mostActiveDay:
      totalEvents === 0 ? null : (WEEKDAYS[weekdays.indexOf(Math.max(...weekdays))] ?? null),
  };
}

function streaks(runs: readonly Run[], today: number): InsightsView['wateringStreaks'] {
  const current = runs.find(({ first, last }) => first <= today && last >= today - 1);
  const last = runs.reduce<number | null>(
    (latest, run) => Math.max(latest ?? run.last, run.last),
    null,
  );
  return {
    currentStreak: current ? lengthOf(current) : 0,
    longestStreak: runs.reduce((longest, run) => Math.max(longest, lengthOf(run)), 0),
    lastWateredDate: last === null ? null : dayAt(last),
  };
}

function tracking(
  plants: readonly PlantSummary[],
  totals: readonly GrowthDocument[],
): InsightsView['growthTracking'] {
  const byPlant = new Map<string, GrowthDocument[]>();
  for (const total of totals) {
    const plantId = idText(total.plantId);
    byPlant.set(plantId, [...(byPlant.get(plantId) ?? []), total]);
  }
  return plants.flatMap(({ id, name }) =>
    (byPlant.get(id) ?? []).map(({ unit, total, measurements, first, last }) => ({
      plantId: id,
      plantName: name,
      unit,
      // JSON has no infinity: a sum beyond double range is shown as the largest double.
      total: Math.min(Number(total), Number.MAX_VALUE),
      measurements,
      firstDate: first.on,
      lastDate: last.on,
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
