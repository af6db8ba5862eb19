import { logKeyModel } from './account-hash';
import { idempotencyModels } from './idempotency';

/** The models of the host itself; plugins add their own. */
export const hostModels = [...idempotencyModels, logKeyModel] as const;
