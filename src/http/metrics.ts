import { METHODS } from 'node:http';

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** A figure that goes up and down, read when metrics are asked for. */
export interface Reading {
  name: string;
  help: string;
  read: () => Promise<number | undefined>;
}

/** What the program counts about itself, for Prometheus. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer, by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.#registry],
  });

  /** Adds the process's own figures: memory, event loop, garbage collection. */
  collectProcessFigures(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  observe(method: string, route: string, status: number, seconds: number): void {
    // HTTP/2 takes any word for a method; each would be a series for ever.
    const known = METHODS.includes(method) ? method : 'other';
    this.#requests.observe({ method: known, route, status }, seconds);
  }

  /** Adds a figure that only grows, and is read from `total` when it is asked for. */
  count(name: string, help: string, total: () => number): void {
    const registers = [this.#registry];
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(total());
      },
    });
  }

  /** Adds a figure that is read when it is asked for; undefined while it is not known. */
  reading({ name, help, read }: Reading): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      async collect() {
        const value = await read();
        // The library would show 0.
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  }

  /** The figures in Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }
}
