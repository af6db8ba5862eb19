import type { ClientSession } from 'mongoose';

import { ApiError } from '../../../src/core/errors';
import { hashOf } from '../../../src/core/identity';
import { idText } from '../../../src/core/ids';
import { ACCOUNT_SCOPE } from '../../accounts';
import { type Invitation, invitationNotFound, memberLimitReached } from '../../members';
import { type Html, markup } from '../../pages';
import type { Parts } from '../endpoints/method';
import { dates } from '../settings/parts';
import type { StateStore } from '../state/store';
import type { BrowserRequest } from './browser-request';
import { actAs, askToSignIn, personOf, principalOf, signedIn } from './signed-in';
import { PageFault } from './texts';

export const JOIN = '/join';
/** Keeps the code out of addresses while the person signs in or up. */
const COOKIE = 'join';
const COOKIE_SECONDS = 3600;

/** Shows who lets the person in, once they are signed in; only the button joins. */
export async function joinPage(request: BrowserRequest, parts: Parts): Promise<void> {
  const { texts, ctx } = request;
  const { code: given } = ctx.query;
  const code = typeof given === 'string' ? given : request.cookie(COOKIE);
  const person = await personOf(request, parts);
  const invitation = await invitationOf(request, parts, code, person?.account.id);
  request.setCookie(COOKIE, code, COOKIE_SECONDS);
  if (!person) {
    askToSignIn(request, parts);
    return;
  }
  if (invitation.member.account === person.account.id) {
    showJoined(request, invitation);
    return;
  }
  const content = markup`${about(request, invitation)}
    <form method="post" action="${JOIN}">
      ${request.csrfField()}
      <input type="hidden" name="code" value="${code}" />
      <button class="main">${texts.joinButton}</button>
    </form>
    <p>${texts.signedIn} <strong>${person.account.id}</strong>.</p>`;
  request.show(texts.join, content, { isSecret: true });
}

/** Makes the person who is signed in a member. */
export async function join(request: BrowserRequest, parts: Parts): Promise<void> {
  const form = await request.form();
  const code = form.get('code') ?? '';
  const person = await signedIn(request, parts);
  if (!person) return;
  const invitation = await invitationOf(request, parts, code, person.account.id);
  try {
    const principal = principalOf(request, person, [ACCOUNT_SCOPE]);
    await actAs(request, { principal }, async () => {
      await request.call('POST /api/gardens/join', { body: { code } });
    });
  } catch (error) {
    throw refusalOf(error);
  }
  request.setCookie(COOKIE, '', 0);
  showJoined(request, invitation);
}

/** Whether the browser keeps a code, with which its person may sign up. */
export function hasCode(request: BrowserRequest): boolean {
  return request.cookie(COOKIE) !== '';
}

/** The invitation whose code the browser keeps. Wrong ones count as failures of the address. @throws PageFault */
export async function keptInvitation(
  request: BrowserRequest,
  parts: Parts,
): Promise<Invitation | undefined> {
  const code = request.cookie(COOKIE);
  return code === '' ? undefined : invitationOf(request, parts, code, undefined);
}

/**
 * Notes that an account is created with an invitation, which is good for one.
 *
 * @throws PageFault if there is one already
 */
export async function noteSignUp(
  store: StateStore,
  { session }: { session: ClientSession },
  { member: { _id }, expiresAt }: Invitation,
): Promise<void> {
  const secret = `sign-up ${idText(_id)}`;
  const noted = await store.documents.exists({ _id: hashOf(secret) }).session(session);
  if (noted) throw new PageFault('invitationGone', 404);
  await store.put({ session }, secret, { kind: 'SignUp', payload: '{}', expiresAt });
}

/**
 * The invitation of a code. Wrong codes count as failures of the address.
 *
 * @throws PageFault, also if it is the person's own
 */
async function invitationOf(
  { api, ctx }: BrowserRequest,
  { gardens }: Parts,
  code: string,
  person: string | undefined,
): Promise<Invitation> {
  await api.refuseSpent(ctx);
  const found = await gardens.invitation(code, person).catch(async (error: unknown) => {
    const refusal = refusalOf(error);
    if (refusal instanceof PageFault) await api.recordFailure(ctx);
    throw refusal;
  });
  if (found.owner.id === person) throw new PageFault('ownInvitation');
  return found;
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.kind === invitationNotFound) return new PageFault('invitationGone', error.status);
  if (error.kind === memberLimitReached) return new PageFault('noRoomInGardens', error.status);
  return error;
}

function showJoined(request: BrowserRequest, invitation: Invitation): void {
  const { texts } = request;
  const { owner } = invitation;
  const content = markup`${about(request, invitation)}
    <p><a href="/gardens/${encodeURIComponent(owner.id)}">${texts.toGarden}</a></p>`;
  request.show(texts.joined, content, { isSecret: true });
}

/** Who lets the person in, as what, and until when. */
function about(request: BrowserRequest, { member, owner, garden }: Invitation): Html {
  const { texts } = request;
  const date = dates(request, owner.timezone, { timeStyle: 'short' });
  const lets =
    garden.name === owner.id
      ? texts.letsInOwn
      : markup`${texts.letsIn} <strong>${garden.name}</strong>.`;
  const end = member.until ? `${texts.openUntil} ${date(member.until)}.` : texts.noEnd;
  return markup`<p><strong>${owner.id}</strong> ${lets}</p>
    <p>${texts.youMay} ${texts.roles[member.role]}. ${end}</p>
    <p>${texts.theyCallYou} <strong>${member.name}</strong>.</p>`;
}
