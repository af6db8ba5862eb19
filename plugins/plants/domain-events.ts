import { DomainEvent } from '../../src/data/writing/transaction';
import type { PlantDocument, UpdatePlant } from './schema';

/** A change of the fields of some plants, in the same way. */
export interface PlantChange {
  plantIds: readonly string[];
  change: UpdatePlant;
  /** If it is a change of one plant. */
  before?: PlantDocument;
}

export const plantsChanged = new DomainEvent<PlantChange>('plants.changed');

/** A plant was added. */
export const plantCreated = new DomainEvent<{ plantId: string; name: string }>('plant.created');

/** A plant was deleted for good. */
export const plantDeleted = new DomainEvent<{ plantId: string; name: string }>('plant.deleted');
