import type { App } from '../../src/app/app';
import { type Difference, rebuildAll } from '../../src/app/reconcile';

/** What a rebuild of all derived data of an account would change: nothing, when all is right. */
export function differencesOf(app: App, userId: string): Promise<Difference[]> {
  return app.writeQueue.dryRun(userId, (tx) => rebuildAll(app.derived, tx));
}
