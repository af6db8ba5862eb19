import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

import { hostSettings } from '../../core/host-settings';
import { BackupFolder } from '../backup/folder';
import { fault, type Finding, good, type OfflineCheck } from './check';

const OTHERS = 0o077;
const CHECK = 'rights of files';

/** Whether nobody else on this machine gets at data, backups and the private key. */
export const rights: OfflineCheck = async (settings) => {
  const dataDir = path.resolve(settings.of(hostSettings.dataDir));
  const folders = await readdir(dataDir, { withFileTypes: true }).catch(() => []);
  const backups = await new BackupFolder(settings).backups();
  const key = settings.of(hostSettings.tlsKeyFile);
  const files = [
    ...folders.filter((each) => each.isDirectory()).map(({ name }) => path.join(dataDir, name)),
    ...backups.map((backup) => backup.path),
    ...(key === undefined ? [] : [path.resolve(key)]),
  ];
  const faults = (await Promise.all(files.map(rightsOf))).flat();
  return faults.length > 0 ? faults : [good(CHECK, 'only their owner gets at data and keys')];
};

async function rightsOf(file: string): Promise<Finding[]> {
  // One that is gone meanwhile is nobody's.
  const status = await stat(file).catch(() => undefined);
  if (!status || (status.mode & OTHERS) === 0) return [];
  return [fault(CHECK, `Other users of this machine get at ${file}: run chmod go= '${file}'.`)];
}
