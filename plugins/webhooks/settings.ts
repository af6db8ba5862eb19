import Joi from 'joi';

import { Setting } from '../../src/core/settings/settings';

export const allowPrivateSetting = new Setting(
  'WEBHOOK_ALLOW_PRIVATE',
  Joi.boolean().required(),
  false,
  'Whether webhooks may use http and private addresses; for tests, and for a backend in the same network',
);
