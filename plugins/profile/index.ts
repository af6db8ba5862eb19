import { rateSetting } from '../../src/core/settings';
import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import { routes } from './routes';

const changes = rateSetting(
  'RATE_LIMIT_TIMEZONE_MAX',
  10,
  'Changes of the time zone a minute per account',
);

/** The account as its owner sees it, and the one setting that is the owner's. */
export default definePlugin({
  name: 'profile',
  requires: ['accounts', 'events', 'photos', 'plants'],
  budgets: { timezone: changes },
  tag: {
    name: 'Account',
    description: "The account as its owner sees it, and the one setting that is the owner's.",
  },
  setup: (host) => ({ operations: () => routes(host, host.use(accountsPlugin)) }),
});
