import type { App } from '../../src/app';
import { type Difference, rebuildAll } from '../../src/reconcile';

/** What a rebuild of all derived data of an account would change: nothing, when all is right. */
export function differencesOf(app: App, userId: string): Promise<Difference[]> {
  return app.unitOfWork.rehearse(userId, (tx) => rebuildAll(app.derived, tx));
}
