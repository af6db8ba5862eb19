import { DAY_MS, HOUR_MS } from '../../../src/core/time';
import type { EventType } from '../../events';
import { eventsPerDay, type PlannedPlant } from './garden-plan';
import type { Random } from './random';
import type { Species } from './species';

/** Where more events are wanted than so many years hold, they stand closer together. */
const MAX_YEARS = 15;

/** An event of a made-up history. */
export interface HistoryEntry {
  type: EventType;
  at: Date;
  /** Growth in centimetres, where that is what happened. */
  growth: number | null;
}

interface Stream {
  type: EventType;
  /** When it happens next, seen from now backwards. */
  at: number;
  /** The time between this one and the one before it, or when that one was. */
  before: (at: number) => number;
}

/**
 * The history of a plant from now backwards, as many events as it is to have: so it ends a short
 * while ago, and begins as long ago as so much care takes.
 */
export function* historyOf(
  planned: PlannedPlant,
  now: Date,
  random: Random,
): Generator<HistoryEntry> {
  const days = planned.events / eventsPerDay(planned.species);
  const pace = Math.min(1, (MAX_YEARS * 365) / days);
  const streams = streamsOf(planned.species, pace, random);
  for (const stream of streams) {
    // Each began its interval some time before now.
    const first = stream.before(now.getTime());
    stream.at = now.getTime() - (now.getTime() - first) * random.next();
  }
  for (let count = 0; count < planned.events; count += 1) {
    const stream = latestOf(streams);
    const { type, at } = stream;
    yield {
      type,
      at: new Date(pace < 1 ? at : atAnHourOfCare(at, now, random)),
      growth: type === 'growth' ? grown(planned.species, at, random) : null,
    };
    stream.at = stream.before(at);
  }
}

function latestOf(streams: readonly [Stream, ...Stream[]]): Stream {
  let [latest] = streams;
  for (const stream of streams) if (stream.at > latest.at) latest = stream;
  return latest;
}

function streamsOf(species: Species, pace: number, random: Random): [Stream, ...Stream[]] {
  const every = (days: number, spread: number) => (at: number) =>
    at - days * pace * DAY_MS * random.between(1 - spread, 1 + spread);
  const stream = (type: EventType, before: Stream['before']): Stream => ({ type, at: 0, before });
  const feeding = every(species.feedingDays, 0.25);
  return [
    stream('watered', (at) => {
      const isMissed = random.chance(0.06);
      const days = species.wateringDays * (isMissed ? 2 : 1) * thirst(monthOf(at));
      return every(days, 0.3)(at);
    }),
    stream('fertilized', (at) => intoMonths(feeding(at), 2, 8, random)),
    stream('growth', every(30, 0.25)),
    stream('note', every(45, 0.8)),
    stream('journal', every(90, 0.8)),
    stream('repotted', (at) => intoMonths(every(500, 0.4)(at), 2, 4, random)),
    stream('soil_change', (at) => intoMonths(every(800, 0.3)(at), 2, 3, random)),
  ];
}

/** How much longer the pot stays wet than in summer, by month. */
function thirst(month: number): number {
  if (month === 11 || month <= 1) return 1.7;
  return month >= 4 && month <= 8 ? 1 : 1.3;
}

/** The same moment if it lies in a season of the year, else one late in that season before it. */
function intoMonths(at: number, first: number, last: number, random: Random): number {
  const month = monthOf(at);
  if (month >= first && month <= last) return at;
  const year = new Date(at).getUTCFullYear() - (month < first ? 1 : 0);
  return Date.UTC(year, last + 1, 1) - random.between(1, 25) * DAY_MS;
}

/** Plants are cared for before work or after it. */
function atAnHourOfCare(at: number, now: Date, random: Random): number {
  const day = Math.floor(at / DAY_MS) * DAY_MS;
  const hour = random.chance(0.55) ? random.between(6.5, 9) : random.between(17.5, 20.5);
  const moment = Math.round(day + hour * HOUR_MS);
  return moment < now.getTime() ? moment : moment - DAY_MS;
}

/** What a plant has grown in a month, in centimetres; hardly anything in winter. */
function grown(species: Species, at: number, random: Random): number {
  const month = monthOf(at);
  const season = month >= 3 && month <= 8 ? 1 : month === 2 || month === 9 ? 0.5 : 0.15;
  return Math.max(0.1, Math.round(species.growth * season * random.between(0.5, 1.4) * 10) / 10);
}

function monthOf(at: number): number {
  return new Date(at).getUTCMonth();
}
