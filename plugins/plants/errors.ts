import { ErrorCode } from '../../src/core/errors';
import { unknownPlant } from '../photos';

export const plantNotFound = unknownPlant.at(404, 'There is no plant of yours with this id.');
export const plantLimitReached = new ErrorCode(
  'plant_limit_reached',
  403,
  'You have as many plants as your tier allows.',
  'Only delete_plant makes room, or another tier; the person has to decide.',
);
