import type { DataCheck } from '../../plugins/plugin';
import { fault, type Finding, good, type OnlineCheck } from './check';

/** Accounts that are named; of more it is said how many they are. */
const MAX_NAMED = 20;

/** Whether accounts have data that plugins would not take any more. */
export const storedData: OnlineCheck = async ({ app }) => {
  const userIds = await app.identity.accountIds();
  const findings: Finding[] = [];
  for (const check of app.dataChecks) findings.push(await findingOf(check, userIds));
  return findings;
};

async function findingOf(check: DataCheck, userIds: readonly string[]): Promise<Finding> {
  let total = 0;
  const accounts: string[] = [];
  for (const userId of userIds) {
    const count = await check.count(userId);
    if (count === 0) continue;
    total += count;
    accounts.push(`${userId} (${count})`);
  }
  if (total === 0) return good(check.name, check.good);
  const others = accounts.length - MAX_NAMED;
  const named = accounts.slice(0, MAX_NAMED).join(', ');
  const whose = others > 0 ? `${named} and ${others} other accounts` : named;
  return fault(check.name, check.fault(total, whose));
}
