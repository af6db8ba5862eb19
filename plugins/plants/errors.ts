import { ErrorCode, recordNotFound } from '../../src/core/errors';

export const plantNotFound = recordNotFound('plant', 'Call list_plants for the ids of all plants.');
/** Where a field of a request names a plant. */
export const unknownPlant = plantNotFound.at(400, 'A field names a plant that is not yours.');
export const plantLimitReached = new ErrorCode(
  'plant_limit_reached',
  403,
  'Plant limit of the tier reached.',
  'Only delete_plant makes room, or another tier; the person has to decide.',
);
