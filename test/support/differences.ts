import type { App } from '../../src/app/app';
import { type Difference, rebuildAll } from '../../src/app/reconcile';

/** What a rebuild of the derived data of an account would change: nothing if it is correct. */
export function differencesOf(app: App, userId: string): Promise<Difference[]> {
  return app.writeQueue.dryRun(userId, (tx) => rebuildAll(app.derived, tx));
}
