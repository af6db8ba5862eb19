import { definePlugin } from '../../src/plugins/plugin';
import accounts, { MANAGE_SCOPE } from '../accounts';
import { accountNotFound } from './errors';
import { routes } from './routes';
import { adminPortSetting, backendMaxSetting } from './settings';

export { adminPortSetting } from './settings';

/** What a trusted backend may do: keep the accounts and tokens of others. */
export default definePlugin({
  name: 'backend',
  requires: ['accounts'],
  scopes: { [MANAGE_SCOPE]: 'Make, change, export and delete accounts, and make their tokens' },
  settings: [adminPortSetting],
  budgets: { backend: backendMaxSetting },
  errors: [accountNotFound],
  tag: {
    name: 'Accounts',
    description: 'Accounts and their tokens, for a trusted backend (`token create --backend`).',
  },
  setup: (host) => ({ operations: () => routes(host.use(accounts), host.scopes) }),
});
