import { PortSetting, rateSetting } from '../../src/core/settings/settings';

export const adminPortSetting = new PortSetting<number | undefined>(
  'ADMIN_PORT',
  undefined,
  'A separate port for the operations of trusted backends (/api/accounts), which PORT then does not serve, and for the probes; 0 picks a free one',
);

export const backendMaxSetting = rateSetting(
  'RATE_LIMIT_BACKEND_MAX',
  6000,
  'Calls a minute of a trusted backend',
);
