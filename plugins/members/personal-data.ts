import type { Host } from '../../src/plugins/host';
import type { KeptData } from '../accounts';
import { leftAt, memberModel } from './model';
import { viewOf } from './schema';

/** What is exported and deleted with the account of an owner, and with that of a member. */
export function keptData(host: Host): KeptData[] {
  const members = host.model(memberModel);
  return [
    {
      name: 'members',
      count: (userId) => members.countDocuments({ userId }).exec(),
      export: async function* (userId) {
        const found = await members.find({ userId }).sort({ createdAt: 1 }).lean();
        yield found.map(viewOf);
      },
      delete: async ({ session, userId }) => {
        await members.deleteMany({ userId }, { session });
      },
    },
    {
      name: 'memberships',
      count: (account) => members.countDocuments({ account }).exec(),
      export: async function* (account) {
        const found = await members.find({ account }).sort({ joinedAt: 1 }).lean();
        yield found.map((member) => ({ ...viewOf(member), garden: member.userId }));
      },
      delete: async ({ session, userId: account, now }) => {
        await members.updateMany({ account }, leftAt(now), { session });
      },
    },
  ];
}
