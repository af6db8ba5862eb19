import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import { invitationNotFound, memberLimitReached, memberNotFound } from './errors';
import { Members } from './members';
import { Memberships } from './memberships';
import { memberModel } from './model';
import { keptData } from './personal-data';
import { routes } from './routes';

/** Gardens that their owners share with others. */
export default definePlugin({
  name: 'members',
  requires: ['accounts'],
  errors: [memberNotFound, memberLimitReached, invitationNotFound],
  models: [memberModel],
  tag: { name: 'Shared gardens', description: 'Who may open the garden of another.' },
  setup: (host) => {
    const accounts = host.use(accountsPlugin);
    for (const kept of keptData(host)) accounts.data.keep(kept);
    const memberships = new Memberships(host, accounts);
    return {
      gardens: memberships,
      operations: () => routes(new Members(host), memberships),
    };
  },
});
