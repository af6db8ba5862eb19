import { DomainEvent } from '../../src/data/writing/domain-event';

/** A photo of a plant was added; whoever knows plants refuses one that is not there. */
export const photoAdded = new DomainEvent<{ plantId: string }>('photo.added');

/** A photo was deleted for good. */
export const photoDeleted = new DomainEvent<{
  photoId: string;
  imagehostPublicId: string;
}>('photo.deleted');
