import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { freeBytes } from '../../core/disk';
import { hostSettings } from '../../core/settings/host-settings';
import type { Metrics } from '../../core/metrics';
import type { Settings } from '../../core/settings/settings';

/** Adds the metrics of the log, the data directory and the certificate. */
export function measureProcess(
  metrics: Metrics,
  settings: Settings,
  droppedLogLines: () => number,
): void {
  metrics.reading({
    name: 'log_lines_dropped_total',
    help: 'Log lines dropped because the reader was too slow',
    isTotal: true,
    read: droppedLogLines,
  });
  metrics.reading({
    name: 'data_dir_free_bytes',
    help: 'Free bytes on the disk of DATA_DIR',
    read: () => freeBytes(settings.of(hostSettings.dataDir)),
  });
  const certificate = settings.of(hostSettings.tlsCertFile);
  if (certificate === undefined) return;
  metrics.reading({
    name: 'tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate of TLS_CERT_FILE expires',
    read: async () => Date.parse(new X509Certificate(await readFile(certificate)).validTo) / 1000,
  });
}
