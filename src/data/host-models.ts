import { auditModels } from './audit/model';
import { idempotencyModels } from './idempotency';

/** All that the host itself stores. */
export const hostModels = [...idempotencyModels, ...auditModels] as const;
