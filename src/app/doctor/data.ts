import type { DataCheck } from '../../plugins/plugin';
import { reconcile } from '../reconcile';
import { fault, type Finding, good, type OnlineCheck } from './check';

/** How many accounts a finding names; others are only counted. */
const MAX_NAMED = 20;

/** Checks all derived data against its source data; reads everything. */
export const derived: OnlineCheck = async ({ app }) => {
  const check = 'derived data';
  const { checked, differences, failures } = await reconcile(app, { repair: false });
  const faults: Finding[] = [];
  if (differences.length > 0) {
    const remedy = 'list them with `reconcile --check`, and repair them with `reconcile --repair`';
    faults.push(
      fault(check, `Stored derived data is wrong (differences: ${differences.length}): ${remedy}.`),
    );
  }
  if (failures.length > 0) {
    const remedy = '`reconcile --check` shows why';
    faults.push(
      fault(check, `Some accounts could not be checked (${failures.length}): ${remedy}.`),
    );
  }
  return faults.length > 0 ? faults : [good(check, `correct in all ${checked} accounts`)];
};

/** Checks for stored data that plugins would no longer accept. */
export const storedData: OnlineCheck = async ({ app }) => {
  const userIds = await app.identity.accountIds();
  const findings: Finding[] = [];
  for (const check of app.contributions.flatMap(({ dataChecks = [] }) => dataChecks))
    findings.push(await findingOf(check, userIds));
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
