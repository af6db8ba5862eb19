import { forEachTried } from '../../core/each';
import { hostSettings } from '../../core/settings/host-settings';
import type { Settings } from '../../core/settings/settings';
import { HOUR_MS } from '../../core/time';
import type { Reading } from '../../core/metrics';
import type { Database } from '../../data/mongodb/database';
import { Lease, leaseModel } from '../../data/schema/lease';
import type { Job } from '../../plugins/plugin';
import { createBackup } from './create';
import { BackupFolder } from './folder';

/** How often to check whether a backup is due. */
const LOOK_SECONDS = 60;

interface ScheduledBackups {
  job: Job;
  lastSuccess: Reading;
}

/**
 * Returns the job that makes scheduled backups; undefined without BACKUP_EVERY_HOURS. Servers that
 * share a folder make each backup once.
 *
 * @param mongodbUri returns undefined until the app is connected
 */
export function scheduledBackups(
  settings: Settings,
  database: Database,
  mongodbUri: () => string | undefined,
): ScheduledBackups | undefined {
  const everyMs = settings.of(hostSettings.backupEveryHours) * HOUR_MS;
  if (everyMs === 0) return undefined;
  const folder = new BackupFolder(settings);
  const lease = new Lease(database.model(leaseModel), 'scheduled backup');
  const newest = async (): Promise<number | undefined> =>
    (await folder.newest({ scheduled: true }))?.madeAt.getTime();
  const isDue = async (): Promise<boolean> =>
    Date.now() - ((await newest()) ?? -Infinity) >= everyMs;
  const backUp = async (uri: string, signal: AbortSignal): Promise<void> => {
    // Another server may have made it before this one got the lease.
    if (!(await isDue())) return;
    const file = await folder.nextFile({ scheduled: true });
    const isManaged = settings.of(hostSettings.mongodbUri) === undefined;
    const steps = [
      () => createBackup({ mongodbUri: uri, isManaged, file, signal }),
      () => folder.prune(settings.of(hostSettings.backupKeep)),
    ];
    await forEachTried(steps, (step): Promise<unknown> => step());
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    const uri = mongodbUri();
    if (uri === undefined || !(await isDue())) return;
    try {
      await lease.try(() => backUp(uri, signal));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  return {
    job: { name: 'backup', everySeconds: Math.min(LOOK_SECONDS, everyMs / 1000), run },
    lastSuccess: {
      name: 'backup_last_success_timestamp_seconds',
      help: 'When the newest scheduled backup was made',
      read: async () => {
        // If the folder cannot be read, the job reports it.
        const last = await newest().catch(() => undefined);
        return last && last / 1000;
      },
    },
  };
}
