import { keyOf, type Labels, type RangePoint, type Sample, withoutName } from './time-series';

/** How far a range's end may be from the next value for the series to go on to it. */
const GAP_TOLERANCE = 1.1;

/**
 * By how much a counter grew from `from` to `to`, as Prometheus's `increase` estimates it: past
 * resets, and extrapolated to the ends of the range.
 *
 * @returns undefined for fewer than two values
 */
export function increaseOf(
  points: readonly RangePoint[],
  from: number,
  to: number,
): number | undefined {
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last || first === last) return undefined;
  let growth = last.value - first.value;
  for (const [index, { value }] of points.slice(1).entries()) {
    const before = points[index]?.value ?? 0;
    if (value < before) growth += before;
  }
  const sampled = last.at - first.at;
  const spacing = sampled / (points.length - 1);
  const reach = (gap: number): number => (gap >= spacing * GAP_TOLERANCE ? spacing / 2 : gap);
  // No counter was ever below zero.
  const sinceZero = growth > 0 ? sampled * (first.value / growth) : Infinity;
  const toStart = Math.min(reach(first.at - from), sinceZero);
  return (growth * (sampled + toStart + reach(to - last.at))) / sampled;
}

/** The quantile of each histogram among the buckets, as Prometheus's `histogram_quantile`. */
export function histogramQuantiles(quantile: number, buckets: readonly Sample[]): Sample[] {
  const histograms = new Map<string, { labels: Labels; buckets: Bucket[] }>();
  for (const { labels, value } of buckets) {
    const { le, ...rest } = withoutName(labels);
    if (le === undefined) continue;
    const key = keyOf(rest);
    const histogram = histograms.get(key) ?? { labels: rest, buckets: [] };
    histogram.buckets.push({ upper: le === '+Inf' ? Infinity : Number(le), count: value });
    histograms.set(key, histogram);
  }
  return [...histograms.values()].map((histogram) => ({
    labels: histogram.labels,
    value: quantileOf(quantile, histogram.buckets),
  }));
}

interface Bucket {
  upper: number;
  /** Of all that is no more than `upper`. */
  count: number;
}

function quantileOf(quantile: number, unsorted: readonly Bucket[]): number {
  const buckets = unsorted.toSorted((one, two) => one.upper - two.upper);
  const total = buckets.at(-1);
  const highest = buckets.at(-2);
  if (total?.upper !== Infinity || !highest || total.count === 0) return NaN;
  const rank = quantile * total.count;
  const index = buckets.findIndex(({ count }) => count >= rank);
  const bucket = buckets[index];
  // What is beyond all bounds counts as the highest of them.
  if (!bucket || bucket === total) return highest.upper;
  const below = buckets[index - 1] ?? { upper: 0, count: 0 };
  const share = (rank - below.count) / (bucket.count - below.count);
  return below.upper + (bucket.upper - below.upper) * share;
}
