import type { Account } from '../core/identity';
import type { Host } from '../plugins/host';
import { CommandError } from './exit-codes';

/**
 * Returns why the quotas of an account have no room for more records, a sentence each.
 *
 * @param wanted how many records, by quota
 */
export function roomFaults(
  host: Host,
  account: Pick<Account, 'id' | 'tier' | 'usage'>,
  wanted: Readonly<Record<string, number>>,
): string[] {
  return Object.entries(wanted).flatMap(([quota, count]) => {
    const left = host.quotas.left(account, quota);
    const room = `the ${account.tier} tier leaves ${account.id} room for ${left}`;
    return count <= left ? [] : [`${quota}: ${count} needed, but ${room}.`];
  });
}

/** @throws CommandError with the first of {@link roomFaults} */
export function requireRoom(...given: Parameters<typeof roomFaults>): void {
  const [fault] = roomFaults(...given);
  if (fault !== undefined) throw new CommandError(fault);
}
