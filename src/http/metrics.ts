import { METHODS } from 'node:http';

import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

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

  /** The figures in Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }
}
