import type { Logger } from 'pino';

import type { Metrics } from '../core/metrics';

const REPORT_MS = 60_000;

/** The status of the response; `none` if a connection above the limit was closed without one. */
export type RefusalStatus = number | 'none';

/**
 * Returns a function that counts requests and connections that never reach the application. Once a
 * minute, it logs how many connections were closed because the limit was reached.
 */
export function countRefusals(metrics: Metrics, log: Logger): (status: RefusalStatus) => void {
  const refusals = metrics.counter(
    'http_refusals_total',
    'Requests that are not valid HTTP, by response status; none: connections closed because the limit was reached',
    ['status'],
  );
  refusals.inc({ status: 'none' }, 0);
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    timer = undefined;
    if (dropped === 0) return;
    log.warn(
      { refused: dropped },
      'New connections are closed because the connection limit is reached (docs/operations.md)',
    );
    dropped = 0;
    timer = setTimeout(report, REPORT_MS).unref();
  };
  return (status) => {
    refusals.inc({ status });
    if (status !== 'none') return;
    dropped += 1;
    if (!timer) report();
  };
}
