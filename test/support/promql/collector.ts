import { readFileSync } from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

import { scrape } from '../metrics';
import { type Labels, type Series, TimeSeries } from './time-series';

const CONFIGURATION = path.resolve(__dirname, '../../../deploy/prometheus/prometheus.yml');

/** How often Prometheus scrapes, and evaluates rules, where it is not set otherwise, in seconds. */
const INTERVAL_S = 60;

/** The part of the file that is read here. */
interface Configuration {
  scrape_configs: [{ job_name: string }];
}

/** Where metrics are collected. */
export interface Target {
  url: string;
  /** The certificate to trust; needed where the address is one of HTTPS. */
  ca?: string;
}

/**
 * Collects metrics as Prometheus does, but for the time between two scrapes: that passes as a test
 * says.
 */
export class Collector {
  readonly series = new TimeSeries();
  /** When rules were evaluated, in Unix seconds. */
  readonly evaluatedAt: number[] = [];
  readonly #targets: readonly Target[];
  readonly #job: string;
  /** The series of the scrape before, by target. */
  readonly #latest = new Map<Target, Set<Series>>();
  #now: number;

  /** @param startsInSeconds how much later than now it starts */
  constructor(targets: readonly Target[], { startsInSeconds = 0 } = {}) {
    this.#targets = targets;
    this.#now = Math.floor(Date.now() / 1000) + startsInSeconds;
    // The project's own file.
    const configuration = parse(readFileSync(CONFIGURATION, 'utf8')) as Configuration;
    this.#job = configuration.scrape_configs[0].job_name;
  }

  /** Collects once a minute, for so many minutes; `before` is done before each of them. */
  async watch(
    minutes: number,
    before: (minute: number) => unknown = () => undefined,
  ): Promise<void> {
    for (let minute = 0; minute < minutes; minute += 1) {
      await before(minute);
      this.#now += INTERVAL_S;
      await Promise.all(this.#targets.map((target) => this.#collect(target)));
      this.evaluatedAt.push(this.#now);
    }
  }

  /** Lets so many minutes pass in which nothing changes: each time what was collected last is there. */
  rest(minutes: number): void {
    for (let minute = 0; minute < minutes; minute += 1) {
      const before = this.#now;
      this.#now += INTERVAL_S;
      for (const target of this.#targets) {
        const up = { __name__: 'up', job: this.#job, instance: new URL(target.url).host };
        for (const series of [...(this.#latest.get(target) ?? []), this.series.of(up)]) {
          const value = series.valueAt(before);
          if (value !== undefined) series.add(this.#now, value);
        }
      }
      this.evaluatedAt.push(this.#now);
    }
  }

  async #collect(target: Target): Promise<void> {
    const own = { job: this.#job, instance: new URL(target.url).host };
    const before = this.#latest.get(target) ?? [];
    const now = new Set<Series>();
    let up = 1;
    try {
      const families = await scrape(target.url, target.ca);
      for (const { name, labels, value } of [...families.values()].flatMap(
        (each) => each.samples,
      )) {
        const series = this.series.of({ __name__: name, ...renamed(labels), ...own });
        series.add(this.#now, value);
        now.add(series);
      }
    } catch {
      up = 0;
    }
    for (const series of before) if (!now.has(series)) series.add(this.#now, undefined);
    this.#latest.set(target, now);
    this.series.of({ __name__: 'up', ...own }).add(this.#now, up);
  }
}

/** Collects for so many minutes from now on; `before` is done before each of them. */
export async function watch(
  targets: readonly Target[],
  minutes: number,
  before?: (minute: number) => unknown,
): Promise<Collector> {
  const collector = new Collector(targets);
  await collector.watch(minutes, before);
  return collector;
}

/** The labels of a sample, where those of the target have the names of some. */
function renamed(labels: Labels): Labels {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [
      ['job', 'instance'].includes(name) ? `exported_${name}` : name,
      value,
    ]),
  );
}
