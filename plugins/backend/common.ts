import { MANAGE_SCOPE } from '../accounts';
import { adminPortSetting } from './settings';

/** What the operations of a backend have in common. */
export const common = {
  of: 'person',
  access: { scope: MANAGE_SCOPE },
  limit: 'backend',
  ownPort: adminPortSetting,
  tool: { none: 'backends, not assistants, manage accounts' },
} as const;
