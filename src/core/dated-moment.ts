/** An instant, with its calendar day in the time zone of the account. */
export interface DatedMoment {
  at: Date;
  /** `YYYY-MM-DD` */
  on: string;
}

/** Compares by instant, then by day, as MongoDB compares stored ones. */
export function compareMoments(a: DatedMoment, b: DatedMoment): number {
  return a.at.getTime() - b.at.getTime() || (a.on < b.on ? -1 : a.on > b.on ? 1 : 0);
}

/** The later of two moments, of which either may be missing. */
export function laterOf(one: DatedMoment | null, other: DatedMoment | null): DatedMoment | null {
  if (!one || !other) return one ?? other;
  return compareMoments(one, other) < 0 ? other : one;
}

/** Formats a moment for people. */
export function momentText(moment: DatedMoment | null | undefined): string {
  return moment ? `${moment.at.toISOString()} (${moment.on})` : 'never';
}
