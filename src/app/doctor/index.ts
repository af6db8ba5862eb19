import type { Settings } from '../../core/settings/settings';
import type { Finding, OnlineCheck } from './check';
import { derived, storedData, storedSchema } from './data';
import { certificate, disk, lastBackup, node, rights } from './machine';
import { mongodb, redis, server } from './servers';

/** Runs the checks that need no server. */
export async function checkOffline(settings: Settings): Promise<Finding[]> {
  const checks = [node, disk, rights, certificate, lastBackup, server];
  return (await Promise.all(checks.map((check) => check(settings)))).flat();
}

/**
 * Runs the checks that need MongoDB and Redis.
 *
 * @param options.quick whether to skip checks that read all data
 */
export async function checkOnline(
  running: Parameters<OnlineCheck>[0],
  { quick }: { quick: boolean },
): Promise<Finding[]> {
  const [ofMongodb, ofRedis] = await Promise.all([mongodb(running), redis(running)]);
  const schema = await storedSchema(running);
  const found = [...ofMongodb, ...ofRedis, ...schema];
  // This release cannot derive anything from data of another one.
  if (quick || schema.some(({ ok }) => !ok)) return found;
  return [...found, ...(await derived(running)), ...(await storedData(running))];
}
