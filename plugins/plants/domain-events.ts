import { DomainEvent } from '../../src/data/writing/transaction';
import type { UpdatePlant } from './schema';

/** Fields of a plant were changed. */
export const plantChanged = new DomainEvent<{ plantId: string; change: UpdatePlant }>(
  'plant.changed',
);

/** A plant was added. */
export const plantCreated = new DomainEvent<{ plantId: string; name: string }>('plant.created');

/** A plant was deleted for good. */
export const plantDeleted = new DomainEvent<{ plantId: string; name: string }>('plant.deleted');
