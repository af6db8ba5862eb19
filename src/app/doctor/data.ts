import { reconcile } from '../reconcile';
import { fault, type Finding, good } from '../../plugins/check';
import type { OnlineCheck } from './check';

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
