import type { Account } from '../../src/core/identity';
import { idText, type StoredId } from '../../src/core/ids';
import {
  addDays,
  calendarOf,
  DAY_MS,
  dayAt,
  dayNumber,
  endOfQuarterHour,
} from '../../src/core/time';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import type { ReadCall } from '../../src/plugins/call';
import type { Accounts } from '../accounts';
import type { Events, PendingPlantDeletions } from '../events';
import { PHOTO_QUOTA } from '../photos';
import type { Plants, PlantSummary } from '../plants';
import { type CareCount, CareCounts, WEEKDAYS, type CareDays } from './care-days';
import type { GrowthTotals } from './growth';
import { asNumber, growthSeries } from './growth-series';
import type { GrowthDocument } from './model';
import type { InsightsQuery, InsightsView } from './schema';

/** The number of days of `careActivityByDay` by default, today included. */
const ACTIVITY_DAYS = 365;

/** The parts of a call besides its query. */
type Call = Pick<ReadCall<InsightsQuery, never>, 'now' | 'validUntil'>;

interface Dependencies {
  accounts: Pick<Accounts, 'person'>;
  plants: Plants;
  events: Events;
  deletions: PendingPlantDeletions;
  careDays: CareDays;
  growth: GrowthTotals;
}

/** Statistics of a person's care (docs/specification.md, 2.11; docs/api.md, "Insights"). */
export class InsightService {
  readonly #host: Host;
  readonly #dependencies: Dependencies;

  constructor(host: Host, dependencies: Dependencies) {
    this.#host = host;
    this.#dependencies = dependencies;
  }

  /** The requested sections, all as of one moment. */
  async read(
    account: Account,
    { sections, from, to, plantId: given }: InsightsQuery,
    { now, validUntil }: Call,
  ): Promise<Partial<InsightsView>> {
    const { accounts, plants, careDays, deletions, events: ofEvents, growth } = this.#dependencies;
    return this.#host.snapshot(async (session) => {
      const today = calendarOf(account.timezone)(now);
      const last = to ?? today;
      const days = { first: from ?? addDays(last, 1 - ACTIVITY_DAYS), last };
      // Events of deleted plants are counted until they are marked as deleted.
      const deleted = new CareCounts();
      for await (const { type, occurredOn, count } of deletions.pending(account.id, session)) {
        deleted.addEvents(occurredOn, type, count);
      }
      const history = await careDays.read({ userId: account.id, session }, days, deleted);
      const summaries = await plants.summaries(account.id, session);
      const growths = await growth.read(account.id, session);
      // Later than the account that authentication read.
      const { usage } = (await accounts.person(account.id, session)) ?? account;
      validUntil(endOfQuarterHour(now));
      const plantId = given?.toLowerCase();
      const measured = summaries.filter(({ id }) => plantId === undefined || id === plantId);
      const active = summaries.filter(({ archivedAt }) => !archivedAt);
      const [first] = summaries;
      const age = first ? daysSince(first.createdAt, now) : null;
      if (first) validUntil(new Date(first.createdAt.getTime() + (Number(age) + 1) * DAY_MS));
      const view = {
        overview: {
          totalPlants: active.length,
          ...events(history.weekdays),
          totalPhotos: usage[PHOTO_QUOTA] ?? 0,
          daysSinceFirstPlant: age,
        },
        careActivityByDay: history.activity,
        wateringStreaks: streaks(history.watered, dayNumber(today)),
        speciesDistribution: species(active),
        growthTracking: tracking(measured, growths),
      };
      if (!sections) return view;
      const wanted: InsightsView = {
        ...view,
        growthSeries: sections.includes('growthSeries')
          ? await growthSeries(ofEvents, { userId: account.id, session }, measured, {
              today,
              plantId,
            })
          : [],
      };
      return Object.fromEntries(sections.map((section) => [section, wanted[section]]));
    });
  }

  /** Recomputes day counts; returns each difference. */
  async rebuildDays(tx: Transaction): Promise<string[]> {
    const { careDays, deletions, events: ofEvents } = this.#dependencies;
    const deleted = await deletions.plantIds(tx.account.id, tx.session);
    return careDays.rebuild(tx, this.#ofPlants(tx, ofEvents.sums.byDay(tx), deleted));
  }

  /** Recomputes growth totals; returns each difference. */
  async rebuildGrowth(tx: Transaction): Promise<string[]> {
    const { events: ofEvents, growth } = this.#dependencies;
    return growth.rebuild(tx, this.#ofPlants(tx, ofEvents.sums.growth(tx)));
  }

  /** The entries of plants that exist or are among `others`. */
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

function events(
  counts: readonly CareCount[],
): Pick<InsightsView['overview'], 'totalEvents' | 'mostActiveDay'> {
  const weekdays = WEEKDAYS.map((_, weekday) =>
    counts.reduce((sum, { day, count }) => sum + (Number(day) === weekday ? count : 0), 0),
  );
  const totalEvents = weekdays.reduce((sum, count) => sum + count, 0);
  // Of equal counts the earlier weekday.
  const most = WEEKDAYS[weekdays.indexOf(Math.max(...weekdays))];
  return { totalEvents, mostActiveDay: totalEvents === 0 ? null : (most ?? null) };
}

/** @param days the days with a watering, in order */
function streaks(days: readonly number[], today: number): InsightsView['wateringStreaks'] {
  const runs: { first: number; last: number; length: number }[] = [];
  for (const day of days) {
    const run = runs.at(-1);
    if (run?.last === day - 1) Object.assign(run, { last: day, length: run.length + 1 });
    else runs.push({ first: day, last: day, length: 1 });
  }
  const current = runs.find(({ first, last }) => first <= today && last >= today - 1);
  const last = days.at(-1);
  return {
    currentStreak: current?.length ?? 0,
    longestStreak: runs.reduce((longest, { length }) => Math.max(longest, length), 0),
    lastWateredDate: last === undefined ? null : dayAt(last),
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
      total: asNumber(total),
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
