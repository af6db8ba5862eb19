import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import { membershipEnded } from './domain-events';
import { invitationNotFound, memberLimitReached, memberNotFound } from './errors';
import { Memberships } from './memberships';
import { memberModel } from './model';
import { keptData } from './personal-data';
import { routes } from './routes';

export { invitationNotFound, memberLimitReached, memberNotFound } from './errors';
export type { Invitation, Memberships } from './memberships';
export { type Role, ROLES } from './roles';
export { managedMembers, member, putMember } from './schema';

/** Gardens that their owners share with others. */
export default definePlugin<Memberships>({
  name: 'members',
  requires: ['accounts'],
  errors: [memberNotFound, memberLimitReached, invitationNotFound],
  emits: [membershipEnded],
  models: [memberModel],
  tag: { name: 'Shared gardens', description: 'Who may open the garden of another.' },
  setup: (host) => {
    const accounts = host.use(accountsPlugin);
    const memberships = new Memberships(host, accounts);
    for (const kept of keptData(host, memberships.members)) accounts.data.keep(kept);
    return {
      exports: memberships,
      gardens: memberships,
      operations: () => routes(memberships.members, memberships),
    };
  },
});
