import type { Logger } from 'pino';

import type { Metrics } from '../core/metrics';

const REPORT_MS = 60_000;

/** The status that a refusal was answered with; `none` where a connection too many was closed. */
export type RefusalStatus = number | 'none';

/**
 * Counts what never reaches the application. Once a minute, the log says how many connections were
 * closed because too many are open.
 */
export function countRefusals(metrics: Metrics, log: Logger): (status: RefusalStatus) => void {
  const refusals = metrics.counter(
    'http_refusals_total',
    'Requests that are not valid HTTP, by the status of the answer; none: connections above the limit, which were closed',
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
      'New connections are closed: as many are open as this server may have (docs/operations.md)',
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
