import { X509Certificate } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { freeBytes, nearestExisting } from '../../core/disk';
import { hostSettings } from '../../core/settings/host-settings';
import { NODE_VERSIONS, PROJECT } from '../../core/settings/project';
import { DAY_MS, HOUR_MS } from '../../core/time';
import { reasonOf } from '../../core/values';
import { BackupFolder } from '../backup/folder';
import { fault, type Finding, good, type OfflineCheck } from './check';

const GIBIBYTE = 2 ** 30;
/** Less is used up by a day of writes or one backup. */
const LEAST_BYTES = GIBIBYTE;
/** The rights of everybody but the owner. */
const OTHERS = 0o077;
/** Whoever renews certificates by themselves has done so by then. */
const SOON_MS = 14 * DAY_MS;
/** How many times in a row a backup may have failed before somebody should look. */
const MISSED = 2;

/** Whether this is a Node on which the program runs. */
export const node: OfflineCheck = async () => {
  const { node: version } = process.versions;
  const [least = '0'] = /\d+\.\d+/.exec(NODE_VERSIONS) ?? [];
  const isGood = version.localeCompare(least, 'en', { numeric: true }) >= 0;
  return [
    good('program', `release ${PROJECT.version}`),
    isGood
      ? good('Node', `version ${version}`)
      : fault('Node', `Node ${version} is not ${NODE_VERSIONS}: install one that is.`),
  ];
};

/** Whether there is space where data and backups go. */
export const disk: OfflineCheck = (settings) => {
  const space = async (check: string, folder: string): Promise<Finding> => {
    const bytes = await freeBytes(nearestExisting(folder));
    const free = `${(bytes / GIBIBYTE).toFixed(1)} GiB are free for ${folder}`;
    if (bytes >= LEAST_BYTES) return good(check, free);
    const remedy = 'remove what is not needed there, or move it to a larger disk';
    return fault(check, `Only ${free}: ${remedy}.`);
  };
  return Promise.all([
    space('disk of DATA_DIR', path.resolve(settings.of(hostSettings.dataDir))),
    space('disk of backups', new BackupFolder(settings).path),
  ]);
};

/** Whether nobody else on this machine gets at data, backups and the private key. */
export const rights: OfflineCheck = async (settings) => {
  const check = 'rights of files';
  const dataDir = path.resolve(settings.of(hostSettings.dataDir));
  const folders = await readdir(dataDir, { withFileTypes: true }).catch(() => []);
  const backups = await new BackupFolder(settings).backups();
  const key = settings.of(hostSettings.tlsKeyFile);
  const files = [
    ...folders.filter((each) => each.isDirectory()).map(({ name }) => path.join(dataDir, name)),
    ...backups.map((backup) => backup.path),
    ...(key === undefined ? [] : [path.resolve(key)]),
  ];
  const faults: Finding[] = [];
  for (const file of files) {
    // One that is gone meanwhile is nobody's.
    const status = await stat(file).catch(() => undefined);
    if (!status || (status.mode & OTHERS) === 0) continue;
    const remedy = `run chmod go= '${file}'`;
    faults.push(fault(check, `Other users of this machine get at ${file}: ${remedy}.`));
  }
  return faults.length > 0 ? faults : [good(check, 'only their owner gets at data and keys')];
};

/** Whether the TLS certificate is valid, and for how long. */
export const certificate: OfflineCheck = async (settings) => {
  const check = 'certificate';
  const file = settings.of(hostSettings.tlsCertFile);
  if (file === undefined) return [good(check, 'none is set: HTTP without TLS')];
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    const remedy = 'run doctor as the user that the server runs as';
    return [fault(check, `${file} cannot be read (${reasonOf(error)}): ${remedy}.`)];
  }
  const { validFrom, validTo } = new X509Certificate(content);
  const end = Date.parse(validTo);
  const day = new Date(end).toISOString().slice(0, 10);
  if (Date.parse(validFrom) > Date.now()) {
    return [fault(check, `${file} is not valid before ${validFrom}: check it and the clock.`)];
  }
  if (end - Date.now() >= SOON_MS) return [good(check, `valid until ${day}`)];
  const how = end < Date.now() ? 'has expired' : 'expires';
  return [fault(check, `${file} ${how} on ${day}: renew it, then send SIGHUP to the server.`)];
};

/** Whether there are the backups that the settings ask for. */
export const lastBackup: OfflineCheck = async (settings) => {
  const check = 'last backup';
  const folder = new BackupFolder(settings);
  const newest = (await folder.newest())?.madeAt;
  const found = newest ? `made at ${newest.toISOString()}` : 'there is none';
  const everyMs = settings.of(hostSettings.backupEveryHours) * HOUR_MS;
  const isLate = !newest || Date.now() - newest.getTime() > MISSED * everyMs;
  if (everyMs === 0 || !isLate) return [good(check, `${found} in ${folder.path}`)];
  const remedy = 'see the log of the server for "job":"backup", and run `backup create`';
  return [fault(check, `The newest backup in ${folder.path} is late (${found}): ${remedy}.`)];
};
