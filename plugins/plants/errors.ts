import { ErrorCode, limitReached } from '../../src/core/errors';
import { unknownPlant } from '../photos';

export const plantNotFound = unknownPlant.at(404, 'Plant not found.');
export const plantLimitReached = limitReached(
  'plant',
  'Only archive_plant or delete_plant makes room, or another tier; the person has to decide.',
);
export const plantArchived = new ErrorCode(
  'plant_archived',
  400,
  'The plant is archived.',
  'Where the person has it after all, call unarchive_plant first.',
);
