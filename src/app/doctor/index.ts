import type { Settings } from '../../core/settings';
import { certificate } from './certificate';
import type { Finding, OfflineCheck, OnlineCheck } from './check';
import { derived } from './derived';
import { disk } from './disk';
import { lastBackup } from './last-backup';
import { mongodb } from './mongodb';
import { node } from './node';
import { redis } from './redis';
import { rights } from './rights';
import { server } from './server';
import { storedData } from './stored-data';
import { storedSchema } from './stored-schema';

export { fault, type Finding, good } from './check';

const OFFLINE: readonly OfflineCheck[] = [node, disk, rights, certificate, lastBackup, server];
const SERVERS: readonly OnlineCheck[] = [mongodb, redis];

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
  const servers = await Promise.all(SERVERS.map((check) => check(running)));
  const schema = await storedSchema(running);
  // This version cannot tell what is derived from data that it cannot use.
  const isUsable = schema.every(({ ok }) => ok);
  if (quick || !isUsable) return [...servers.flat(), ...schema];
  return [
    ...servers.flat(),
    ...schema,
    ...(await derived(running)),
    ...(await storedData(running)),
  ];
}
