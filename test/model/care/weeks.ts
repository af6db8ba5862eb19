import fc from 'fast-check';

import { DAY_MS } from '../../../src/core/time';
import { ZONES } from './writes';

export const START = Date.parse('2028-02-20T03:17:00Z');
/** When the phones are back: after a week. */
export const END = START + 7 * DAY_MS;

/** What a phone that is offline puts into its queue. */
const anyAct = fc.record({
  kind: fc.constantFrom(
    ...(['done', 'done', 'skip', 'skip', 'skip', 'snooze', 'snooze', 'take back'] as const),
    ...(['undo', 'move', 'backdate'] as const),
  ),
  phone: fc.nat(1),
  minute: fc.nat(7 * 24 * 60),
  care: fc.nat(2),
  days: fc.nat(9),
  meant: fc.constantFrom('nothing', 'as shown', 'as shown', 'any day'),
  /** Its place in the order of arrival. */
  arrival: fc.nat(1_000_000),
});
export type Act = typeof anyAct extends fc.Arbitrary<infer T> ? T : never;

const someWeek = fc.record({
  acts: fc.uniqueArray(anyAct, {
    minLength: 6,
    maxLength: 26,
    size: 'max',
    selector: ({ minute }) => minute,
  }),
  /** Before and after the phones are back. */
  zones: fc.tuple(fc.constantFrom(...ZONES), fc.constantFrom(...ZONES)),
  everyDays: fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 })),
  /** Whether each phone sends its queue in order, or in any. */
  isInOrder: fc.boolean(),
});
type Week = typeof someWeek extends fc.Arbitrary<infer T> ? T : never;

/** A week with what follows from it, whatever the order of arrival. */
export interface Plan {
  week: Week;
  /** By moment. */
  acts: readonly Act[];
  /** The care that an act undoes or moves. */
  origins: ReadonlyMap<Act, Act>;
  /** The occurrences that the phones showed, of an act each. */
  shown: Map<Act, string | undefined>;
}

/** The plan of a seed. */
export function planOf(seed: number): Plan {
  const [week] = fc.sample(someWeek, { seed, numRuns: 1 });
  if (!week) throw new Error('A sample has one week.');
  const acts = [...week.acts].sort((a, b) => a.minute - b.minute);
  const origins = new Map<Act, Act>();
  for (const [index, act] of acts.entries()) {
    if (act.kind !== 'undo' && act.kind !== 'move') continue;
    const moved = acts.filter(({ kind }) => kind === 'move').map((each) => origins.get(each));
    const own = acts.slice(0, index).filter(({ kind, phone }) => {
      return (kind === 'done' || kind === 'backdate') && phone === act.phone;
    });
    const origin = own[act.days % Math.max(1, own.length)];
    // Of two moves the last to arrive counts.
    if (origin && !(act.kind === 'move' && moved.includes(origin))) origins.set(act, origin);
  }
  return { week, acts, origins, shown: new Map() };
}

/** The order in which the acts of two queues arrive: each queue in its order, or both in any. */
export function arrivalsOf({ week, acts, origins }: Plan): Act[] {
  const places = new Map(acts.map((act) => [act, act.arrival]));
  if (week.isInOrder) {
    for (const phone of [0, 1]) {
      const own = acts.filter((act) => act.phone === phone);
      const sorted = own.map(({ arrival }) => arrival).sort((a, b) => a - b);
      for (const [index, act] of own.entries()) places.set(act, sorted[index] ?? 0);
    }
  }
  const placeOf = (act: Act): number => {
    const origin = origins.get(act);
    const place = places.get(act) ?? 0;
    return origin ? Math.max(place, placeOf(origin) + 0.5) : place;
  };
  return [...acts].sort((a, b) => placeOf(a) - placeOf(b));
}

export function momentOf(minute: number): string {
  return new Date(START + minute * 60_000).toISOString();
}
