import type { Logger } from 'pino';

import type { Metrics } from '../core/metrics';

const REPORT_MS = 60_000;

/** The status of the answer to what was refused; none where its connection was closed without one. */
export type RefusalStatus = number | 'none';

/**
 * Counts what is refused before the application sees it. That connections run out is said in the log
 * as well, once a minute as long as it lasts.
 */
export function countRefusals(metrics: Metrics, log: Logger): (status: RefusalStatus) => void {
  const refusals = metrics.counter(
    'http_refusals_total',
    'Requests and connections that were refused before they were looked at, by the status of the answer; none are those above the limit of connections that got no answer',
    ['status'],
  );
  for (const status of [503, 'none'] as const) refusals.inc({ status }, 0);
  let refused = 0;
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    timer = undefined;
    if (refused === 0) return;
    log.warn(
      { refused },
      'Connections are refused: as many are open as this server may have (docs/operations.md)',
    );
    refused = 0;
    timer = setTimeout(report, REPORT_MS).unref();
  };
  return (status) => {
    refusals.inc({ status });
    if (status !== 503 && status !== 'none') return;
    refused += 1;
    if (!timer) report();
  };
}
