import { DomainEvent } from '../../src/data/domain-event';

/** A plant was deleted for good. */
export const plantDeleted = new DomainEvent<{ plantId: string }>('plant.deleted');
