import { hostSettings } from '../core/settings/host-settings';
import type { Settings } from '../core/settings/settings';
import { DAY_MS, HOUR_MS } from '../core/time';
import type { AuditLog } from '../data/audit/audit-log';
import type { Database } from '../data/mongodb/database';
import type { IdempotencyStore } from '../data/idempotency/idempotency';
import { pruneDeletions } from '../data/changes/deletions';
import type { WriteQueue } from '../data/writing/write-queue';
import type { Job } from '../plugins/plugin';

interface Dependencies {
  database: Database;
  writeQueue: WriteQueue;
  settings: Settings;
  audit: AuditLog;
}

/** The host's own jobs, except backups. */
export function hostJobs(app: Dependencies, idempotency: IdempotencyStore): Job[] {
  const { audit, settings } = app;
  return [
    {
      // Not on connect: commands connect too, and may lack the server's settings.
      name: 'idempotency key expiry',
      everySeconds: HOUR_MS / 1000,
      run: () => idempotency.deleteExpired(),
    },
    {
      name: 'deletion record pruning',
      everySeconds: DAY_MS / 1000,
      run: (stopping) => pruneDeletions(app, stopping),
    },
    {
      name: 'audit log pruning',
      everySeconds: HOUR_MS / 1000,
      run: (stopping) => audit.prune(settings.of(hostSettings.auditKeepDays), stopping),
    },
  ];
}
