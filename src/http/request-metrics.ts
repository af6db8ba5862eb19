import type { Metrics } from '../core/metrics';
import type { DefaultState } from 'koa';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What a request counts as whose client did not wait for its answer, as in nginx. */
export const CLIENT_CLOSED = 499;

/** How long requests and tool calls take, and how they end. */
export class RequestMetrics {
  readonly #duration;
  readonly #errors;
  readonly #toolDuration;
  readonly #toolCalls;

  constructor(metrics: Metrics) {
    this.#duration = metrics.histogram(
      'http_request_duration_seconds',
      'Time until a request was answered, by operation and status',
      SECONDS,
      ['operation', 'status'],
    );
    this.#errors = metrics.counter(
      'http_errors_total',
      'Requests that were answered with an error, by operation and code',
      ['operation', 'code'],
    );
    this.#toolDuration = metrics.histogram(
      'tool_call_duration_seconds',
      'Time until a call of a tool was answered',
      SECONDS,
      ['tool'],
    );
    this.#toolCalls = metrics.counter(
      'tool_calls_total',
      'Calls of tools, by the code of the error that was answered, or ok',
      ['tool', 'code'],
    );
  }

  /** @param seconds from the request's head until its answer was sent or its client was gone */
  observe({ operation = 'none', tool, code }: DefaultState, status: number, seconds: number): void {
    this.#duration.observe({ operation, status }, seconds);
    // Nobody was answered with an error, and a client alone must not raise an alert.
    if (status === CLIENT_CLOSED) return;
    if (tool !== undefined) {
      this.#toolDuration.observe({ tool }, seconds);
      this.#toolCalls.inc({ tool, code: code ?? 'ok' });
    } else if (code !== undefined) {
      this.#errors.inc({ operation, code });
    }
  }
}
