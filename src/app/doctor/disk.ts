import path from 'node:path';

import { freeBytes, nearestExisting } from '../../core/disk';
import { hostSettings } from '../../core/host-settings';
import { BackupFolder } from '../backup/folder';
import { fault, type Finding, good, type OfflineCheck } from './check';

const GIBIBYTE = 2 ** 30;
/** Less is used up by a day of writes or one backup. */
const LEAST_BYTES = GIBIBYTE;

/** Whether there is space where data and backups go. */
export const disk: OfflineCheck = async (settings) => {
  const folders = {
    'disk of DATA_DIR': path.resolve(settings.of(hostSettings.dataDir)),
    'disk of backups': new BackupFolder(settings).path,
  };
  return Promise.all(Object.entries(folders).map(([check, folder]) => space(check, folder)));
};

async function space(check: string, folder: string): Promise<Finding> {
  const bytes = await freeBytes(nearestExisting(folder));
  const free = `${(bytes / GIBIBYTE).toFixed(1)} GiB are free for ${folder}`;
  if (bytes >= LEAST_BYTES) return good(check, free);
  return fault(
    check,
    `Only ${free}: remove what is not needed there, or move it to a larger disk.`,
  );
}
