import { SchemaError } from '../../data/schema/migration';
import type { DataCheck } from '../../plugins/plugin';
import { reconcile } from '../reconcile';
import { fault, type Finding, good, type OnlineCheck } from './check';

const REMEDY = 'start the server of this version, or run `migrate up`';
/** Accounts that are named; of more it is said how many they are. */
const MAX_NAMED = 20;

/** Whether the data is in the form that this version needs, with all indexes that it declares. */
export const storedSchema: OnlineCheck = async ({ app }) => {
  try {
    const { isNew, pending, collections, indexes } = await app.schema.status();
    if (isNew) return [good('migrations', 'nothing is stored yet'), good('indexes', 'none yet')];
    const wrong = [
      ...collections.map((name) => `The collection ${name} is missing`),
      ...indexes.flatMap(({ collection, missing, obsolete }) => [
        ...missing.map((name) => `${collection} has no index on ${name}`),
        ...obsolete.map((name) => `${collection} has an index ${name} of another version`),
      ]),
    ];
    const older = `An earlier version wrote the data (${pending.join(', ')}): ${REMEDY}.`;
    return [
      pending.length === 0 ? good('migrations', 'all are done') : fault('migrations', older),
      ...(wrong.length === 0
        ? [good('indexes', `all of ${app.database.models.length} collections`)]
        : wrong.map((each) => fault('indexes', `${each}: ${REMEDY}.`))),
    ];
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return [fault('migrations', error.message)];
  }
};

/** Whether all derived data is what its causes say; reads everything that there is. */
export const derived: OnlineCheck = async ({ app }) => {
  const check = 'derived data';
  const { checked, differences, failures } = await reconcile(app, { repair: false });
  const faults: Finding[] = [];
  if (differences.length > 0) {
    const remedy = 'see them by `reconcile --check`, and put them right by `reconcile --repair`';
    faults.push(fault(check, `There are ${differences.length} differences: ${remedy}.`));
  }
  if (failures.length > 0) {
    const remedy = 'see why by `reconcile --check`';
    faults.push(fault(check, `${failures.length} accounts could not be checked: ${remedy}.`));
  }
  return faults.length > 0 ? faults : [good(check, `right in all of ${checked} accounts`)];
};

/** Whether accounts have data that plugins would not take any more. */
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
