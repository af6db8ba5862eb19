/** The value below which a share of the values is. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/**
 * How surprising differences within pairs are where neither half is the greater on the whole:
 * Wilcoxon's signed ranks, in standard deviations. Only the order of the differences matters, so
 * that a few pairs in which the machine did something else change little.
 */
export function signedRankScore(differences: readonly number[]): number {
  const ranked = differences.toSorted((a, b) => Math.abs(a) - Math.abs(b));
  const signed = ranked.map((difference, index) => Math.sign(difference) * (index + 1));
  const sum = signed.reduce((total, rank) => total + rank, 0);
  const { length } = differences;
  return sum / Math.sqrt((length * (length + 1) * (2 * length + 1)) / 6);
}
