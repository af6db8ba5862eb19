import type { Account } from '../core/identity';
import type { Host } from '../plugins/host';
import { CommandError } from './errors';

/**
 * Refuses more records than an account's tier leaves room for.
 *
 * @param wanted how many, by quota
 * @throws CommandError
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
      `The ${account.tier} tier leaves ${account.id} room for ${left} more ${quota}, and ${count} are wanted.`,
    );
  }
}
