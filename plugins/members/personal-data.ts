import type { Host } from '../../src/plugins/host';
import type { KeptData } from '../accounts';
import type { Members } from './members';
import { memberModel } from './model';
import { viewOf } from './schema';

/** What is exported and deleted with the account of an owner, and with that of a member. */
export function keptData(host: Host, sharing: Members): KeptData[] {
  const members = host.model(memberModel);
  return [
    {
      name: 'members',
      count: (userId) => members.countDocuments({ userId }).exec(),
      export: async function* (userId) {
        const found = await members.find({ userId }).sort({ createdAt: 1 }).lean();
        yield found.map(viewOf);
      },
      delete: (tx) => sharing.endAll(tx),
    },
    {
      name: 'memberships',
      count: (account) => members.countDocuments({ account }).exec(),
      export: async function* (account) {
        const found = await members.find({ account }).sort({ joinedAt: 1 }).lean();
        yield found.map((member) => ({ ...viewOf(member), garden: member.userId }));
      },
      delete: (tx) => sharing.leaveAll(tx),
    },
  ];
}
