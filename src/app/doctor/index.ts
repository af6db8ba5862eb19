import type { Settings } from '../../core/settings/settings';
import type { Finding, OnlineCheck } from './check';
import { derived, storedData, storedSchema } from './data';
import { certificate, disk, lastBackup, node, rights } from './machine';
import { mongodb, redis, server } from './servers';

export { fault, type Finding, good } from './check';

/** Checks what is there without any server. */
export async function checkOffline(settings: Settings): Promise<Finding[]> {
  const checks = [node, disk, rights, certificate, lastBackup, server];
  return (await Promise.all(checks.map((check) => check(settings)))).flat();
}

/**
 * Checks what is there with the servers up.
 *
 * @param options.quick whether what reads all data is left out
 */
export async function checkOnline(
  running: Parameters<OnlineCheck>[0],
  { quick }: { quick: boolean },
): Promise<Finding[]> {
  const [ofMongodb, ofRedis] = await Promise.all([mongodb(running), redis(running)]);
  const schema = await storedSchema(running);
  const found = [...ofMongodb, ...ofRedis, ...schema];
  // This version cannot tell what is derived from data that it cannot use.
  if (quick || schema.some(({ ok }) => !ok)) return found;
  return [...found, ...(await derived(running)), ...(await storedData(running))];
}
