import { DomainEvent } from '../../src/data/writing/transaction';

/** A photo of a plant was added. The listener of plants throws if the plant does not exist. */
export const photoAdded = new DomainEvent<{ plantId: string }>('photo.added');

/** A photo was deleted for good. */
export const photoDeleted = new DomainEvent<{
  photoId: string;
  imagehostPublicId: string;
}>('photo.deleted');
