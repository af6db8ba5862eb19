import { setTimeout as sleep } from 'node:timers/promises';

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { PROJECT } from './settings/project';
import { withTimeout } from './async/timeout';
import { yieldToEventLoop } from './async/event-loop';

/** What all of the program's own metrics begin with. */
const PREFIX = 'plantcare_';
/** Gauges of the library that end like counters; there are the same ones by type. */
const MISNAMED = ['active_handles', 'active_requests', 'active_resources'].map(
  (name) => `nodejs_${name}_total`,
);
/** How much longer than it took to write them the figures are not written again. */
const PAUSES_PER_WRITING = 9;
const MAX_PAUSE_MS = 100;
/** How long a figure may take that is read when metrics are asked for. */
const READ_MS = 500;

/** A figure that is read when metrics are asked for. */
export interface Reading {
  /** In snake_case, with its unit at the end. */
  name: string;
  help: string;
  /** By what several values of it are told apart; their number must be bounded. */
  label?: string;
  /** Whether it only grows; its name then ends in `_total`. */
  isTotal?: true;
  /**
   * The value, or one for each value of the label; undefined while it is not known. One that takes
   * longer than half a second is left out.
   */
  read: () => Value | Promise<Value>;
}

type Value = number | Readonly<Record<string, number>> | undefined;

/**
 * What the program counts about itself, for Prometheus. Who counts something declares it: names
 * are given without the program's prefix, and a label has few values.
 */
export class Metrics {
  readonly #registry = new Registry();
  #text: Promise<string> | undefined;
  #pausedUntil = 0;

  constructor() {
    const info = new Gauge({
      name: `${PREFIX}build_info`,
      help: 'Which release runs, on which version of Node; always 1',
      labelNames: ['version', 'node_version'],
      registers: [this.#registry],
    });
    info.set({ version: PROJECT.version, node_version: process.versions.node }, 1);
  }

  /** Adds the process's own figures: memory, event loop, garbage collection. */
  collectProcessFigures(): void {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
  }

  /** Adds a figure that only grows. */
  counter<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Counter<Label> {
    return new Counter(this.#configuration(name, help, labelNames));
  }

  /** Adds a figure that goes up and down. */
  gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Gauge<Label> {
    return new Gauge(this.#configuration(name, help, labelNames));
  }

  /** Adds a distribution of observed values. */
  histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    const configuration = this.#configuration(name, help, labelNames);
    return new Histogram({ ...configuration, buckets: [...buckets] });
  }

  /** Adds a figure that only grows, and is read from `total` when metrics are asked for. */
  count(name: string, help: string, total: () => number): void {
    new Counter({
      ...this.#configuration(name, help, []),
      collect() {
        this.reset();
        this.inc(total());
      },
    });
  }

  /** Adds a figure that is read when metrics are asked for. */
  reading({ name, help, label, isTotal, read }: Reading): void {
    const Figure = isTotal ? Counter : Gauge;
    new Figure({
      ...this.#configuration(name, help, label === undefined ? [] : [label]),
      async collect() {
        const value = await inTime(read);
        this.reset();
        if (typeof value === 'number') this.inc(value);
        // Without labels the library shows 0 for what is not known.
        else if (label === undefined) this.remove();
        else
          for (const [key, each] of Object.entries(value ?? {})) this.inc({ [label]: key }, each);
      },
    });
  }

  /**
   * The figures in Prometheus' text format. They take milliseconds to write, and many addresses
   * may ask for them at once: they are written one time after the other, with pauses, and calls that
   * wait for the same get the same text.
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

/** What a reading comes to; undefined where it fails, or does not come to anything in time. */
async function inTime(read: Reading['read']): Promise<Value> {
  try {
    return await withTimeout(READ_MS, read());
  } catch {
    return undefined;
  }
}
