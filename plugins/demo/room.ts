import { Failure } from '../../src/failure';
import type { Account } from '../../src/identity';
import type { Host } from '../../src/plugins/manifest';

/**
 * Refuses more records than an account's tier leaves room for.
 *
 * @param wanted how many, by quota
 * @throws Failure
 */
export function requireRoom(
  host: Host,
  account: Account,
  wanted: Readonly<Record<string, number>>,
): void {
  for (const [quota, count] of Object.entries(wanted)) {
    const left = host.quotaLeft(account, quota);
    if (count <= left) continue;
    throw new Failure(
      `The ${account.tier} tier leaves ${account.id} room for ${left} more ${quota}, and ${count} are wanted.`,
    );
  }
}
