import type { Account } from '../core/identity';
import type { Host } from '../plugins/host';
import { CommandError } from './errors';

/**
 * Requires that the quotas of an account have room for more records.
 *
 * @param wanted how many records, by quota
 * @throws CommandError if a quota would be exceeded
 */
export function requireRoom(
  host: Host,
  account: Pick<Account, 'id' | 'tier' | 'usage'>,
  wanted: Readonly<Record<string, number>>,
): void {
  for (const [quota, count] of Object.entries(wanted)) {
    const left = host.quotaLeft(account, quota);
    if (count <= left) continue;
    throw new CommandError(
      `The ${account.tier} tier leaves ${account.id} room for ${left} more ${quota}, but ${count} are needed.`,
    );
  }
}
