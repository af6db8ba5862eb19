import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import remindersPlugin from '../reminders';
import { routes } from './routes';

/** The account: tier, limits, token and the owner's settings. */
export default definePlugin({
  name: 'profile',
  requires: ['accounts', 'plants', 'reminders'],
  tag: {
    name: 'Account',
    description: 'The account: its tier, its limits and its settings.',
  },
  setup: (host) => ({
    operations: () => routes(host, host.use(accountsPlugin), host.use(remindersPlugin)),
  }),
});
