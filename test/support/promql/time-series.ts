/** What tells one series from others; its metric's name is the label `__name__`. */
export type Labels = Readonly<Record<string, string>>;

/** A value of a series at a moment. */
export interface Sample {
  labels: Labels;
  value: number;
}

/** How long the last value of a series counts, in seconds. */
const LOOKBACK_S = 300;

/** A value, or a stale marker where the series ended: undefined. */
interface Point {
  /** In Unix seconds. */
  at: number;
  value: number | undefined;
}

/** A value of a range, at a moment in Unix seconds. */
export interface RangePoint {
  at: number;
  value: number;
}

/** The values of one series, the oldest first. */
export class Series {
  readonly #points: Point[] = [];

  constructor(readonly labels: Labels) {}

  add(at: number, value: number | undefined): void {
    this.#points.push({ at, value });
  }

  /** The value that counts at a moment, if any. */
  valueAt(at: number): number | undefined {
    const last = this.#points.findLast((point) => point.at <= at);
    return last && last.at > at - LOOKBACK_S ? last.value : undefined;
  }

  /** The values after `from` and until `to`. */
  between(from: number, to: number): RangePoint[] {
    return this.#points.flatMap(({ at, value }) =>
      value !== undefined && at > from && at <= to ? [{ at, value }] : [],
    );
  }
}

/** What a collector keeps. */
export class TimeSeries {
  readonly #byName = new Map<string, Map<string, Series>>();

  /** The series of a metric by its labels, made where it is new. */
  of(labels: Labels): Series {
    const { __name__: name = '' } = labels;
    const named = this.#byName.get(name) ?? new Map<string, Series>();
    this.#byName.set(name, named);
    const key = keyOf(labels);
    const series = named.get(key) ?? new Series(labels);
    named.set(key, series);
    return series;
  }

  /** All series of a metric. */
  named(name: string): Series[] {
    return [...(this.#byName.get(name)?.values() ?? [])];
  }
}

/** The same for the same labels, in whatever order. */
export function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).toSorted(([one], [two]) => (one < two ? -1 : 1)));
}

/** The labels but for the metric's name, which is not a result's any more. */
export function withoutName(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([label]) => label !== '__name__'));
}
