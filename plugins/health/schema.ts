import Joi from 'joi';

import { oneOf } from '../../src/fields/joi';

export const live = Joi.object({ status: Joi.valid('ok').required() });

export const ready = Joi.object({
  status: Joi.valid('ready').required(),
  mongodb: Joi.valid('ok').required(),
  rateLimits: oneOf(['shared', 'in memory']).required(),
  warnings: Joi.array().items(Joi.string()).required(),
});
