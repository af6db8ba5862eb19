import { resourceModel } from '../../src/data/resource';
import { plant } from './schema';

export const plantModel = resourceModel('Plant', 'plants', plant, [
  // The list, in its order.
  { userId: 1, createdAt: 1, _id: 1 },
  // The distinct locations.
  { userId: 1, location: 1 },
]);
