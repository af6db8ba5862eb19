import Joi from 'joi';

import { Setting } from '../../src/core/settings/settings';

export const allowPrivateSetting = new Setting(
  'WEBHOOK_ALLOW_PRIVATE',
  Joi.boolean().required(),
  false,
  'Whether webhooks may go to private addresses, and by http; for tests, and for a backend in the same network',
);
