import { deletionModel } from './deletions';
import { idempotencyModels } from './idempotency';
import type { ModelDefinition } from './models';

/** What the host itself stores. */
export const hostModels: readonly ModelDefinition[] = [...idempotencyModels, deletionModel];
