import { SwitchSetting } from '../../src/core/settings/settings';

export const allowPrivateSetting = new SwitchSetting(
  'WEBHOOK_ALLOW_PRIVATE',
  false,
  'Whether webhooks may use http and private addresses; for tests, and for a backend in the same network',
);
