import Joi from 'joi';

import { oneOf } from '../../src/fields/joi';
import { named } from '../../src/fields/schema-name';

export const live = named('Liveness', Joi.object({ status: oneOf(['ok']).required() }));

export const ready = named(
  'Readiness',
  Joi.object({
    status: oneOf(['ready']).required(),
    mongodb: oneOf(['ok']).required(),
    rateLimits: oneOf(['shared', 'in memory']).required(),
    warnings: Joi.array().items(Joi.string()).required().example([]),
  }),
);
