import { DomainEvent } from '../../src/data/writing/transaction';
import type { UpdatePlant } from './schema';

/** Fields of some plants were changed, in the same way. */
export const plantsChanged = new DomainEvent<{ plantIds: readonly string[]; change: UpdatePlant }>(
  'plants.changed',
);

/** A plant was added. */
export const plantCreated = new DomainEvent<{ plantId: string; name: string }>('plant.created');

/** A plant was deleted for good. */
export const plantDeleted = new DomainEvent<{ plantId: string; name: string }>('plant.deleted');
