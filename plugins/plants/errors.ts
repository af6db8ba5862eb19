import { limitReached } from '../../src/core/errors';
import { unknownPlant } from '../photos';

export const plantNotFound = unknownPlant.at(404, 'Plant not found.');
export const plantLimitReached = limitReached(
  'plant',
  'Only delete_plant makes room, or another tier; the person has to decide.',
);
