import { reconcile } from '../reconcile';
import { fault, good, type OnlineCheck } from './check';

const CHECK = 'derived data';

/** Whether all derived data is what its causes say; reads everything that there is. */
export const derived: OnlineCheck = async ({ app }) => {
  const { checked, differences } = await reconcile(app, { repair: false });
  if (differences.length === 0) return [good(CHECK, `right in all of ${checked} accounts`)];
  const remedy = 'see them by `reconcile --check`, and put them right by `reconcile --repair`';
  return [fault(CHECK, `There are ${differences.length} differences: ${remedy}.`)];
};
