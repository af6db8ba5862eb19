import type { ClientSession } from 'mongoose';

import { addressIn } from '../../mail';
import type { Invitation } from '../../members';
import type { Parts } from '../endpoints/method';
import { markup } from '../../pages';
import {
  accountField,
  emailField,
  faultSummary,
  nameField,
  newPasswordField,
  passkeyButton,
  returnField,
  returnOf,
} from './fields';
import { keptInvitation, noteSignUp } from './join';
import { showReady } from './links';
import { PASSKEY_SCRIPT } from './passkey-script';
import { PageFault, type Sentence } from './texts';
import type { BrowserRequest } from './browser-request';

interface SignUpForm {
  invite: string;
  /** The name in the invitation; undefined if the person chooses one. */
  invited: string | undefined;
  /** The page to return to. */
  to: string | undefined;
  name?: string;
  email?: string;
  fault?: Sentence;
  status?: number;
}

/** Shows the sign-up page. */
export async function signUpPage(request: BrowserRequest, parts: Parts): Promise<void> {
  const { query } = request.ctx;
  const invite = String(query['invite'] ?? '');
  const { invited } = await invitationIn(request, parts, invite);
  await showForm(request, parts, { invite, invited, to: returnOf(query['return']) });
}

/** Creates an account, or sets how to sign in to the one of an invitation. */
export async function signUp(request: BrowserRequest, parts: Parts): Promise<void> {
  const { api, ctx, texts, page, browser } = request;
  const { people, mails } = parts;
  const form = await request.form();
  await api.refuseSpent(ctx);
  const invite = form.get('invite') ?? '';
  const passkey = form.get('passkey') ?? '';
  const to = returnOf(form.get('return'));
  const { invited, garden } = await invitationIn(request, parts, invite);
  const name = invited ?? (form.get('name') ?? '').trim();
  const acting = request.acting(name);
  const email = (invited === undefined && form.get('email')) || '';
  const address = addressIn(email);
  try {
    if (email !== '' && address === undefined) throw new PageFault('badEmail');
    const credential =
      passkey === ''
        ? { password: form.get('password') ?? '' }
        : { passkey: await people.passkeys.verifyRegistration(page, invited, passkey, browser) };
    const within = async (tx: { session: ClientSession }) => {
      if (garden) await noteSignUp(parts.store, tx, garden);
    };
    if (invited === undefined) await people.signUp(name, credential, page.client, acting, within);
    else await people.acceptInvitation(invite, credential, acting);
  } catch (error) {
    const { sentence: fault, status } = request.faultOf(error);
    // Limits how many names and invitations can be tried.
    if (['taken', 'badInvitation', 'invitationGone'].includes(fault)) await api.recordFailure(ctx);
    await showForm(request, parts, { invite, invited, to, name, email, fault, status });
    return;
  }
  await request.signIn(name);
  if (address !== undefined) await mails.confirm(name, address, request.language);
  if (to !== undefined) {
    request.redirect(to);
    return;
  }
  showReady(request, texts.ready);
}

/** By what a person signs up. */
interface SignUpRight {
  /** The name of an invitation to the service. */
  invited?: string;
  /** The invitation to a garden, which is good for one new account. */
  garden?: Invitation;
}

/** @throws PageFault if the invitation is invalid, or missing where one is required */
async function invitationIn(
  request: BrowserRequest,
  parts: Parts,
  invite: string,
): Promise<SignUpRight> {
  const { api, ctx } = request;
  if (invite === '') {
    if (parts.isOpen) return {};
    const garden = await keptInvitation(request, parts);
    if (!garden) throw new PageFault('noInvitation', 403);
    return { garden };
  }
  await api.refuseSpent(ctx);
  const found = await parts.people.invitation(invite);
  if (found) return { invited: found.name };
  await api.recordFailure(ctx);
  throw new PageFault('badInvitation');
}

async function showForm(
  request: BrowserRequest,
  { people, mails }: Parts,
  { invite, invited, to, name = '', email = '', fault, status = 200 }: SignUpForm,
): Promise<void> {
  const { texts } = request;
  const options = await people.passkeys.registrationOptions(request.page, invited);
  const who =
    invited === undefined
      ? markup`${nameField(texts, name, fault)}
          ${mails.isOn && emailField(texts.emailOptional, email, fault, false)}`
      : markup`<p>${texts.welcome} <strong>${invited}</strong>.</p>
          <input type="hidden" name="invite" value="${invite}" />
          ${accountField(invited)}`;
  const content = markup`${faultSummary(texts, fault)}
    <form method="post" action="/sign-up">
      ${request.csrfField()} ${returnField(to)} ${who}
      ${newPasswordField(texts, fault)}
      <button class="main">${texts.usePassword}</button>
      ${passkeyButton(texts, texts.makePasskey, options)}
    </form>`;
  const title = invited === undefined ? texts.signUp : texts.setUp;
  request.show(title, content, { status, script: options && PASSKEY_SCRIPT });
}
