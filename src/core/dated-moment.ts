/** A moment, and the calendar day that it was on for whom it happened. */
export interface DatedMoment {
  at: Date;
  /** `YYYY-MM-DD` */
  on: string;
}

/** Orders moments; those that are one, by their days. MongoDB orders what is stored of them alike. */
export function compareMoments(a: DatedMoment, b: DatedMoment): number {
  return a.at.getTime() - b.at.getTime() || (a.on < b.on ? -1 : a.on > b.on ? 1 : 0);
}

/** A moment for people. */
export function momentText(moment: DatedMoment | null | undefined): string {
  return moment ? `${moment.at.toISOString()} (${moment.on})` : 'never';
}
