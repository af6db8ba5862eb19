import { logKeyModel } from '../accounts/account-hash';
import { auditModels } from '../audit/model';
import { deletionModel } from '../changes/deletions';
import { idempotencyModels } from '../idempotency/idempotency';
import type { ModelDefinition } from './models';
import { leaseModel } from '../schema/lease';
import { migrationModel } from '../schema/migration';

/** The models of the host itself. */
export const hostModels: readonly ModelDefinition[] = [
  ...idempotencyModels,
  ...auditModels,
  logKeyModel,
  deletionModel,
  leaseModel,
  migrationModel,
];
