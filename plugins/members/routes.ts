import { gardenNotFound } from '../../src/core/errors';
import { success } from '../../src/fields/joi';
import { type Operation, read, remove, write } from '../../src/plugins/operation';
import { ACCOUNT_SCOPE } from '../accounts';
import { invitationNotFound, memberLimitReached, memberNotFound } from './errors';
import type { Members } from './members';
import type { Memberships } from './memberships';
import {
  createMember,
  garden,
  gardens,
  joinGarden,
  member,
  members as memberList,
  newMember,
  updateMember,
} from './schema';

const common = {
  of: 'person',
  access: { scope: ACCOUNT_SCOPE },
  tool: { none: 'people, not assistants, decide who may see their garden' },
} as const;
const one = {
  ...common,
  path: '/api/account/members/{id}',
  params: { id: memberNotFound },
} as const;

/** Operations on shared gardens (docs/api.md, "Shared gardens"). */
export function routes(members: Members, memberships: Memberships): Operation[] {
  return [
    read({
      ...common,
      path: '/api/account/members',
      summary: 'List the members of the garden, and open invitations',
      operationId: 'listMembers',
      notCacheable: 'visits of members are recorded without a write to the account',
      response: { schema: memberList, description: 'Newest first' },
      handler: async ({ account }) => ({ items: await members.list(account.id) }),
    }),
    write({
      ...common,
      method: 'POST',
      path: '/api/account/members',
      summary: 'Invite a person to the garden',
      description:
        'The code lets one person in, within 7 days; with `link`, a link lets a carer in without an account, until its end. They are shown only once: a repeat under the same Idempotency-Key is 409 with the id.',
      operationId: 'createMember',
      body: createMember,
      secret: ['invitation', 'link'],
      notConditional: 'the code is shown only once',
      response: { schema: newMember, description: 'The invitation, or the link' },
      errors: [memberLimitReached],
      handler: async ({ tx, body: { link, ...body }, origin }) => {
        if (link) {
          const { view, secret } = await members.makeLink(tx, body);
          return { ...view, link: { url: `${origin()}/sitter/${secret}` } };
        }
        const { view, code, expiresAt } = await members.invite(tx, body);
        const url = `${origin()}/join?code=${code}`;
        return { ...view, invitation: { code, url, expiresAt } };
      },
    }),
    write({
      ...one,
      method: 'PATCH',
      summary: 'Change a member or an invitation',
      description: 'Fields that are left out do not change.',
      operationId: 'updateMember',
      body: updateMember,
      response: { schema: member, description: 'The changed member' },
      errors: [memberLimitReached],
      handler: ({ tx, params, body }) => members.change(tx, params.id, body),
    }),
    remove({
      ...one,
      summary: 'End a membership or withdraw an invitation, from the next request on',
      operationId: 'deleteMember',
      handler: ({ tx, params }) => members.end(tx, params.id),
    }),
    write({
      ...common,
      method: 'POST',
      path: '/api/gardens/join',
      summary: 'Join a garden by the code of an invitation',
      description:
        'For a member, the role and the end of the newer invitation hold. Wrong codes count as failed authentications of the address.',
      operationId: 'joinGarden',
      body: joinGarden,
      countsFailures: invitationNotFound,
      notConditional: 'its owner names the garden',
      response: { status: 200, schema: garden, description: 'The garden' },
      errors: [invitationNotFound, memberLimitReached, gardenNotFound],
      handler: ({ tx, token, body }) => {
        if (token.garden) throw gardenNotFound.error();
        return memberships.join(tx, body.code);
      },
    }),
    read({
      path: '/api/gardens',
      of: 'person',
      access: { anyToken: 'it says which gardens the person may open' },
      summary: 'List the gardens that the person may open',
      description: "One's own comes first. A token for one garden lists that one.",
      notCacheable: 'their owners change them',
      response: { schema: gardens, description: "The person's own, then those shared with them" },
      tool: {
        name: 'list_gardens',
        description: "List the person's own garden and those that others share with them.",
      },
      handler: async ({ account, token: { garden } }) => {
        const open = await memberships.list(account);
        return { items: open.filter(({ id }) => garden === undefined || id === garden.owner) };
      },
    }),
    write({
      ...common,
      method: 'DELETE',
      path: '/api/gardens/{id}',
      params: { id: gardenNotFound },
      owner: 'id',
      summary: 'Leave a garden',
      operationId: 'leaveGarden',
      response: { schema: success, description: 'The garden is no longer open to the person' },
      handler: async ({ tx, token, params }) => {
        if (token.garden) throw gardenNotFound.error();
        await memberships.leave(tx, params.id);
        return { success: true };
      },
    }),
  ];
}
