import { ErrorCode, limitReached } from '../../src/core/errors';
import { unknownPlant } from '../photos';

export const plantNotFound = unknownPlant.at(404, 'Plant not found.');
export const plantLimitReached = limitReached(
  'plant',
  'Only archive_plant, delete_plant or another tier makes room; the person has to decide.',
);
export const plantArchived = new ErrorCode(
  'plant_archived',
  400,
  'The plant is archived.',
  'If the person has the plant again, call unarchive_plant first.',
);
