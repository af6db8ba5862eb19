import { median, signedRankScore } from './statistics';

/** Does something once, and answers how long it took, in milliseconds. */
export type Timed = () => Promise<number>;

export interface Comparison {
  differ: boolean;
  pairs: number;
  /** Of each, in milliseconds. */
  medians: readonly [number, number];
}

/**
 * After how many pairs the score is looked at, and from which on there is more to see. A stop before
 * the last only lowers the share of false alarms, and most comparisons end at the first.
 *
 * The last score is met by chance once in 26 million comparisons, however busy the machine is.
 */
const LOOKS = [
  { pairs: 10, score: 1 },
  { pairs: 20, score: 1.4 },
  { pairs: 48, score: 2.2 },
  { pairs: 96, score: 3.5 },
  { pairs: 192, score: 5.5 },
];

/**
 * A lead under this share of the other's time is none. MongoDB reads another account's document
 * before it drops it, which takes 10 µs of a request's 1.2 ms; whoever loads or checks a record takes
 * far longer.
 */
const LEAST_SHARE = 0.02;

/** Whether one of two things takes longer, of which each pair of turns gives a hint. */
export async function compareDurations(first: Timed, second: Timed): Promise<Comparison> {
  const times: [number, number][] = [];
  const comparison = (differ: boolean): Comparison => {
    const medians = [median(times.map(([a]) => a)), median(times.map(([, b]) => b))] as const;
    return { differ, pairs: times.length, medians };
  };
  for (const { pairs, score } of LOOKS) {
    while (times.length < pairs) times.push(await timePair(first, second));
    const swapped = times.map(([a, b]) => [b, a] as const);
    if (Math.max(leadScore(times), leadScore(swapped)) < score) return comparison(false);
  }
  return comparison(true);
}

/** How surprising it is, in standard deviations, that the first of each pair takes longer. */
function leadScore(times: readonly (readonly [number, number])[]): number {
  return signedRankScore(times.map(([first, second]) => first - (1 + LEAST_SHARE) * second));
}

/** By lot, so that the sign of a difference is one too, whatever else the machine does meanwhile. */
async function timePair(first: Timed, second: Timed): Promise<[number, number]> {
  if (Math.random() < 0.5) return [await first(), await second()];
  const later = await second();
  return [await first(), later];
}
