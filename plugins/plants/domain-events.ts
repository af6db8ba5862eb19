import { DomainEvent } from '../../src/data/domain-event';
import type { UpdatePlant } from './schema';

/** Fields of a plant were changed. */
export const plantChanged = new DomainEvent<{ plantId: string; change: UpdatePlant }>(
  'plant.changed',
);

/** A plant was deleted for good. */
export const plantDeleted = new DomainEvent<{ plantId: string }>('plant.deleted');
