import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import { routes } from './routes';

/** The account as its owner sees it, and the settings that are the owner's. */
export default definePlugin({
  name: 'profile',
  requires: ['accounts', 'plants'],
  tag: {
    name: 'Account',
    description: "The account as its owner sees it, and the settings that are the owner's.",
  },
  setup: (host) => ({ operations: () => routes(host, host.use(accountsPlugin)) }),
});
