import { hostSettings } from '../core/settings/host-settings';
import type { Settings } from '../core/settings/settings';
import { DAY_MS, HOUR_MS } from '../core/time';
import type { AuditLog } from '../data/audit/audit-log';
import type { Database } from '../data/mongodb/database';
import type { IdempotencyStore } from '../data/idempotency/idempotency';
import { pruneDeletions } from '../data/changes/prune-deletions';
import type { WriteQueue } from '../data/writing/write-queue';
import type { Job } from '../plugins/plugin';

interface Dependencies {
  database: Database;
  writeQueue: WriteQueue;
  settings: Settings;
  idempotency: IdempotencyStore;
  audit: AuditLog;
}

/** The work that the host does by itself, backups aside. */
export function hostJobs({
  database,
  writeQueue,
  settings,
  idempotency,
  audit,
}: Dependencies): Job[] {
  return [
    {
      // Not when connecting: commands connect too, perhaps without the server's settings.
      name: 'expiry of stored responses',
      everySeconds: HOUR_MS / 1000,
      run: () => idempotency.deleteExpired(),
    },
    {
      name: 'forgetting of deletions that are too many',
      everySeconds: DAY_MS / 1000,
      run: (stopping) => pruneDeletions({ database, writeQueue }, stopping),
    },
    {
      name: 'deletion of old entries of the audit log',
      everySeconds: HOUR_MS / 1000,
      run: (stopping) => audit.prune(settings.of(hostSettings.auditKeepDays), stopping),
    },
  ];
}
