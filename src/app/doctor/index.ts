import type { Settings } from '../../core/settings';
import { certificate } from './certificate';
import type { Finding, OfflineCheck, OnlineCheck } from './check';
import { derived } from './derived';
import { disk } from './disk';
import { indexes } from './indexes';
import { lastBackup } from './last-backup';
import { mongodb } from './mongodb';
import { node } from './node';
import { redis } from './redis';
import { rights } from './rights';

export { fault, type Finding, good } from './check';

const OFFLINE: readonly OfflineCheck[] = [node, disk, rights, certificate, lastBackup];
const ONLINE: readonly OnlineCheck[] = [mongodb, redis, indexes];

/** What can be checked without any server. */
export async function checkOffline(settings: Settings): Promise<Finding[]> {
  const found = await Promise.all(OFFLINE.map((check) => check(settings)));
  return found.flat();
}

/**
 * What can be checked with the servers up.
 *
 * @param options.quick whether what reads all data is left out
 */
export async function checkOnline(
  running: Parameters<OnlineCheck>[0],
  { quick }: { quick: boolean },
): Promise<Finding[]> {
  const checks = quick ? ONLINE : [...ONLINE, derived];
  const found = await Promise.all(checks.map((check) => check(running)));
  return found.flat();
}
