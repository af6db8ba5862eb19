import { hostSettings } from '../../core/settings/host-settings';
import type { Settings } from '../../core/settings/settings';
import { HOUR_MS } from '../../core/time';
import { codeOf } from '../../core/values';
import type { Reading } from '../../core/metrics';
import type { Job } from '../../plugins/plugin';
import { createBackup } from './create';
import { BackupError } from './errors';
import { BackupFolder } from './folder';

/** How often it is looked whether one is due, at most. */
const LOOK_SECONDS = 60;

/** The backups that a server makes by itself. */
interface ScheduledBackups {
  job: Job;
  lastSuccess: Reading;
}

/**
 * The backups that the settings ask for; undefined where they ask for none. Servers that share a
 * folder make each of them once.
 *
 * @param mongodbUri known once the program is connected
 */
export function scheduledBackups(
  settings: Settings,
  mongodbUri: () => string | undefined,
): ScheduledBackups | undefined {
  const everyMs = settings.of(hostSettings.backupEveryHours) * HOUR_MS;
  if (everyMs === 0) return undefined;
  const folder = new BackupFolder(settings);
  const newest = async (): Promise<number | undefined> =>
    (await folder.newest({ scheduled: true }))?.madeAt.getTime();
  const isDue = async (): Promise<boolean> => {
    // Asked first: what is written no more by then is among those that are made.
    if (await folder.isBeingWritten()) return false;
    return Date.now() - ((await newest()) ?? -Infinity) >= everyMs;
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    const uri = mongodbUri();
    if (uri === undefined || !(await isDue())) return;
    try {
      await createBackup({
        mongodbUri: uri,
        isManaged: settings.of(hostSettings.mongodbUri) === undefined,
        file: await folder.nextFile({ scheduled: true }),
        partial: folder.scheduledPartial,
        signal,
      });
      await folder.prune(settings.of(hostSettings.backupKeep));
    } catch (error) {
      const isOthers = error instanceof BackupError && codeOf(error.cause) === 'EEXIST';
      // Another server was faster, or this one is stopping.
      if (!isOthers && !signal.aborted) throw error;
    }
  };
  return {
    job: { name: 'backup', everySeconds: Math.min(LOOK_SECONDS, everyMs / 1000), run },
    lastSuccess: {
      name: 'backup_last_success_timestamp_seconds',
      help: 'When the newest backup was made that a server made by itself',
      read: async () => {
        // Where the folder cannot be read, the job says so.
        const last = await newest().catch(() => undefined);
        return last && last / 1000;
      },
    },
  };
}
