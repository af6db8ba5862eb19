import { hostSettings } from '../../core/host-settings';
import { HOUR_MS } from '../../core/time';
import { BackupFolder } from '../backup/folder';
import { fault, good, type OfflineCheck } from './check';

const CHECK = 'last backup';
/** How many times in a row one may have failed before somebody should look. */
const MISSED = 2;

/** Whether there are the backups that the settings ask for. */
export const lastBackup: OfflineCheck = async (settings) => {
  const folder = new BackupFolder(settings);
  const newest = (await folder.backups()).find(({ isAhead }) => !isAhead);
  const found = newest ? `made at ${newest.madeAt.toISOString()}` : 'there is none';
  const everyMs = settings.of(hostSettings.backupEveryHours) * HOUR_MS;
  const isLate = !newest || Date.now() - newest.madeAt.getTime() > MISSED * everyMs;
  if (everyMs === 0 || !isLate) return [good(CHECK, `${found} in ${folder.path}`)];
  const remedy = 'see the log of the server for "job":"backup", and run `backup create`';
  return [fault(CHECK, `The newest backup in ${folder.path} is late (${found}): ${remedy}.`)];
};
