import { X509Certificate } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { validityFault } from '../../core/file-schemas';
import { freeBytes, nearestExisting } from '../../core/disk';
import { hostSettings } from '../../core/settings/host-settings';
import { DAY_MS, HOUR_MS } from '../../core/time';
import { reasonOf } from '../../core/values';
import { BackupFolder } from '../backup/folder';
import { fault, type Finding, good, type OfflineCheck } from '../../plugins/check';

const GIBIBYTE = 2 ** 30;
/** A day of writes or one backup may take as much. */
const LEAST_BYTES = GIBIBYTE;
/** The permission bits of group and others. */
const OTHERS = 0o077;
/** Automatic renewal of certificates happens earlier. */
const SOON_MS = 14 * DAY_MS;
/** How many backups in a row may be missing before it is a fault. */
const MISSED = 2;

/** Checks the free space for data and backups. */
export const disk: OfflineCheck = (settings) => {
  const space = async (check: string, folder: string): Promise<Finding> => {
    const bytes = await freeBytes(nearestExisting(folder));
    const free = `${(bytes / GIBIBYTE).toFixed(1)} GiB is free in ${folder}`;
    if (bytes >= LEAST_BYTES) return good(check, free);
    const remedy = 'free some space, or move the folder to a larger disk';
    return fault(check, `Only ${free}: ${remedy}.`);
  };
  return Promise.all([
    space('disk of DATA_DIR', path.resolve(settings.of(hostSettings.dataDir))),
    space('disk of backups', new BackupFolder(settings).path),
  ]);
};

/** Checks that only their owner has access to data, backups and the private key. */
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
    // It may have been removed meanwhile.
    const status = await stat(file).catch(() => undefined);
    if (!status || (status.mode & OTHERS) === 0) continue;
    const remedy = `run chmod go= '${file}'`;
    faults.push(fault(check, `Other users of this machine have access to ${file}: ${remedy}.`));
  }
  return faults.length > 0 ? faults : [good(check, 'only the owner has access to data and keys')];
};

/** Checks whether the TLS certificate is valid, and for how long. */
export const certificate: OfflineCheck = async (settings) => {
  const check = 'certificate';
  const file = settings.of(hostSettings.tlsCertFile);
  if (file === undefined) return [good(check, 'not set: HTTP without TLS')];
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    const remedy = 'run doctor as the user that runs the server';
    return [fault(check, `${file} cannot be read (${reasonOf(error)}): ${remedy}.`)];
  }
  const { validTo } = new X509Certificate(content);
  const day = new Date(validTo).toISOString().slice(0, 10);
  const isSoon = Date.parse(validTo) - Date.now() < SOON_MS;
  const reason = validityFault(content) ?? (isSoon ? `expires on ${day}` : undefined);
  if (reason === undefined) return [good(check, `valid until ${day}`)];
  return [fault(check, `${file} ${reason}: replace it, then send SIGHUP to the server.`)];
};

export const lastBackup: OfflineCheck = async (settings) => {
  const check = 'last backup';
  const folder = new BackupFolder(settings);
  const newest = (await folder.newest())?.madeAt;
  const found = newest ? `made at ${newest.toISOString()}` : 'there is none';
  const everyMs = settings.of(hostSettings.backupEveryHours) * HOUR_MS;
  const isLate = !newest || Date.now() - newest.getTime() > MISSED * everyMs;
  if (everyMs === 0 || !isLate) return [good(check, `${found} in ${folder.path}`)];
  const remedy = 'look for "job":"backup" in the log of the server, and run `backup create`';
  return [fault(check, `The newest backup in ${folder.path} is late (${found}): ${remedy}.`)];
};
