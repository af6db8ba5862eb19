import { fieldError } from '../../src/core/errors';
import { isAccountGone } from '../../src/core/identity';
import type { Host } from '../../src/plugins/host';
import { type Operation, put, read, remove } from '../../src/plugins/operation';
import type { Accounts } from '../accounts';
import {
  managedMembers,
  member,
  memberLimitReached,
  memberNotFound,
  type Memberships,
  putMember,
} from '../members';
import { common } from './common';
import { accountNotFound } from './schema';

const list = { ...common, path: '/api/accounts/{id}/members', account: 'id' } as const;
const one = {
  ...list,
  path: '/api/accounts/{id}/members/{member}',
  owner: 'member',
  params: { id: accountNotFound, member: memberNotFound },
} as const;

/** Operations on the members of shared gardens for a backend (docs/api.md, "A trusted backend"). */
export function memberRoutes(
  { transact }: Pick<Host, 'transact'>,
  accounts: Accounts,
  { members }: Memberships,
): Operation[] {
  return [
    read({
      ...list,
      summary: 'List the members of the garden of an account, and open invitations',
      operationId: 'listAccountMembers',
      params: { id: accountNotFound },
      notCacheable: "it concerns accounts other than the caller's",
      response: { schema: managedMembers, description: 'Newest first' },
      handler: async ({ params, tenant }) => {
        if (!(await accounts.person(params.id, tenant.session))) throw accountNotFound.error();
        return { items: await members.accounts(params.id) };
      },
    }),
    put({
      ...one,
      summary: 'Let a person into the garden of an account, or change the member that they are',
      description: 'Without an invitation. It can be repeated: the person is a member once.',
      operationId: 'putAccountMember',
      body: putMember,
      response: { schema: member, description: 'The member' },
      errors: [memberLimitReached],
      handler: async ({ params: { id, member: person }, body, acting, made }) => {
        if (person === id) throw fieldError('member', 'member must be another account.');
        try {
          const { view, isNew } = await transact(id, async (tx) => {
            if (!(await accounts.person(person, tx.session))) throw accountNotFound.error();
            return members.put(tx.as(acting), person, body);
          });
          if (isNew) made();
          return view;
        } catch (error) {
          throw isAccountGone(error) ? accountNotFound.error() : error;
        }
      },
    }),
    remove({
      ...one,
      summary: 'End the membership of a person, from the next request on',
      operationId: 'deleteAccountMember',
      handler: ({ tx, params }) => members.endOf(tx, params.member),
    }),
  ];
}
