import { logKeyModel } from '../accounts/account-hash';
import { auditModels } from '../audit/model';
import { deletionModel } from '../changes/deletions';
import { idempotencyModels } from '../idempotency/idempotency';
import type { ModelDefinition } from './models';
import { leaseModel } from '../schema/lease';
import { migrationModel } from '../schema/migration';

/** What the host itself stores. */
export const hostModels: readonly ModelDefinition[] = [
  ...idempotencyModels,
  ...auditModels,
  logKeyModel,
  deletionModel,
  leaseModel,
  migrationModel,
];
