import { reconcile } from '../reconcile';
import { fault, type Finding, good, type OnlineCheck } from './check';

const CHECK = 'derived data';

/** Whether all derived data is what its causes say; reads everything that there is. */
export const derived: OnlineCheck = async ({ app }) => {
  const { checked, differences, failures } = await reconcile(app, { repair: false });
  const faults: Finding[] = [];
  if (differences.length > 0) {
    const remedy = 'see them by `reconcile --check`, and put them right by `reconcile --repair`';
    faults.push(fault(CHECK, `There are ${differences.length} differences: ${remedy}.`));
  }
  if (failures.length > 0) {
    const remedy = 'see why by `reconcile --check`';
    faults.push(fault(CHECK, `${failures.length} accounts could not be checked: ${remedy}.`));
  }
  return faults.length > 0 ? faults : [good(CHECK, `right in all of ${checked} accounts`)];
};
