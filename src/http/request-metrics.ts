import type { Metrics } from '../core/metrics';
import type { DefaultState } from 'koa';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The status recorded when the client disconnects before the response, as in nginx. */
export const CLIENT_CLOSED = 499;

/** Durations and results of requests and tool calls. */
export class RequestMetrics {
  readonly #duration;
  readonly #errors;
  readonly #toolDuration;
  readonly #toolCalls;

  constructor(metrics: Metrics) {
    this.#duration = metrics.histogram(
      'http_request_duration_seconds',
      'Time from request to response, by operation and status',
      SECONDS,
      ['operation', 'status'],
    );
    this.#errors = metrics.counter(
      'http_errors_total',
      'Requests that failed, by operation and error code',
      ['operation', 'code'],
    );
    this.#toolDuration = metrics.histogram(
      'tool_call_duration_seconds',
      'Duration of tool calls',
      SECONDS,
      ['tool'],
    );
    this.#toolCalls = metrics.counter('tool_calls_total', 'Tool calls, by error code, or ok', [
      'tool',
      'code',
    ]);
  }

  /** @param seconds from the request's headers until the response was sent or the client disconnected */
  observe({ operation = 'none', tool, code }: DefaultState, status: number, seconds: number): void {
    this.#duration.observe({ operation, status }, seconds);
    // The service did not fail, and clients that disconnect must not raise an alert.
    if (status === CLIENT_CLOSED) return;
    if (tool !== undefined) {
      this.#toolDuration.observe({ tool }, seconds);
      this.#toolCalls.inc({ tool, code: code ?? 'ok' });
    } else if (code !== undefined) {
      this.#errors.inc({ operation, code });
    }
  }
}
