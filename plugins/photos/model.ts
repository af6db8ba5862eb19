import { tracked } from '../../src/data/changes';
import { resourceModel } from '../../src/data/resource';
import { photo } from './schema';

export const photoModel = tracked(
  'photo',
  resourceModel('Photo', 'photos', photo, [
    // The photos of a plant that is deleted; counts of an account's photos.
    { userId: 1, plantId: 1 },
  ]),
);
