import { setTimeout as sleep } from 'node:timers/promises';

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { PROJECT } from './settings/project';
import { withTimeout, yieldToEventLoop } from './async';

const PREFIX = 'plantcare_';
/** Gauges of the library that are named like counters; it has the same figures by type. */
const MISNAMED = ['active_handles', 'active_requests', 'active_resources'].map(
  (name) => `nodejs_${name}_total`,
);
/** The pause after the metrics are written, as a multiple of the time that it took. */
const PAUSES_PER_WRITING = 9;
const MAX_PAUSE_MS = 100;
/** Time-out of a reading. */
const READ_MS = 500;

/** A metric that is read when it is scraped. */
export interface Reading {
  /** In snake_case, ending with the unit. */
  name: string;
  help: string;
  /** The name of a label; the number of its values must be bounded. */
  label?: string;
  /** Whether it is a counter; its name then ends with `_total`. */
  isTotal?: true;
  /** Returns the value, or one for each value of the label; undefined while it is unknown. */
  read: () => Value | Promise<Value>;
}

type Value = number | Readonly<Record<string, number>> | undefined;

/** The metrics for Prometheus. Names are given without the prefix. */
export class Metrics {
  readonly #registry = new Registry();
  #text: Promise<string> | undefined;
  #pausedUntil = 0;

  constructor() {
    const info = new Gauge({
      name: `${PREFIX}build_info`,
      help: 'The release and the version of Node; always 1',
      labelNames: ['version', 'node_version'],
      registers: [this.#registry],
    });
    info.set({ version: PROJECT.version, node_version: process.versions.node }, 1);
  }

  /** Adds the metrics of the process: memory, event loop, garbage collection. */
  collectProcessFigures(): void {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
  }

  counter<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Counter<Label> {
    return new Counter(this.#configuration(name, help, labelNames));
  }

  gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Gauge<Label> {
    return new Gauge(this.#configuration(name, help, labelNames));
  }

  histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    const configuration = this.#configuration(name, help, labelNames);
    return new Histogram({ ...configuration, buckets: [...buckets] });
  }

  /** Adds a metric that is read when it is scraped. */
  reading({ name, help, label, isTotal, read }: Reading): void {
    const Figure = isTotal ? Counter : Gauge;
    new Figure({
      ...this.#configuration(name, help, label === undefined ? [] : [label]),
      async collect() {
        const value = await inTime(read);
        this.reset();
        if (typeof value === 'number') this.inc(value);
        // Without labels the library would show 0.
        else if (label === undefined) this.remove();
        else
          for (const [key, each] of Object.entries(value ?? {})) this.inc({ [label]: key }, each);
      },
    });
  }

  /**
   * The metrics in Prometheus' text format. They take milliseconds to write, and many addresses may
   * request them: concurrent calls share one text, and there are pauses between texts.
   */
  text(): Promise<string> {
    this.#text ??= this.#write().finally(() => {
      this.#text = undefined;
    });
    return this.#text;
  }

  async #write(): Promise<string> {
    await sleep(Math.max(0, this.#pausedUntil - performance.now()));
    await yieldToEventLoop();
    const started = performance.now();
    try {
      return await this.#registry.metrics();
    } finally {
      const ended = performance.now();
      const pause = Math.min((ended - started) * PAUSES_PER_WRITING, MAX_PAUSE_MS);
      this.#pausedUntil = ended + pause;
    }
  }

  #configuration<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
  ): { name: string; help: string; labelNames: readonly Label[]; registers: Registry[] } {
    return { name: PREFIX + name, help, labelNames, registers: [this.#registry] };
  }
}

/** The value of a reading; undefined if it fails or takes too long. */
async function inTime(read: Reading['read']): Promise<Value> {
  try {
    return await withTimeout(READ_MS, read());
  } catch {
    return undefined;
  }
}
