import { idempotencyModels } from './idempotency';

/** The models of the host itself; plugins add their own. */
export const hostModels = [...idempotencyModels] as const;
