import { definePlugin } from '../../src/plugins/plugin';
import accounts, { MANAGE_SCOPE } from '../accounts';
import membersPlugin from '../members';
import { memberRoutes } from './member-routes';
import { accountNotFound } from './schema';
import { routes } from './routes';
import { adminPortSetting, backendMaxSetting } from './settings';

export { adminPortSetting } from './settings';

/** Lets a trusted backend manage the accounts and tokens of people. */
export default definePlugin({
  name: 'backend',
  requires: ['accounts', 'members'],
  scopes: { [MANAGE_SCOPE]: 'Create, change, export and delete accounts, and create their tokens' },
  settings: [adminPortSetting],
  budgets: { backend: backendMaxSetting },
  errors: [accountNotFound],
  tag: {
    name: 'Accounts',
    description: 'Accounts and their tokens, for a trusted backend (`token create --backend`).',
  },
  setup: (host) => {
    const people = host.use(accounts);
    const members = host.use(membersPlugin);
    return {
      operations: () => [...routes(people, host.scopes), ...memberRoutes(host, people, members)],
    };
  },
});
