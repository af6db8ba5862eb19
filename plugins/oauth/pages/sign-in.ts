import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';

import { isLoopback } from '../../../src/core/settings/settings';
import type { BrowserRequest } from './browser-request';
import { hasCode } from './join';
import { markup } from '../../pages';
import {
  faultSummary,
  nameField,
  passkeyButton,
  passwordField,
  returnField,
  returnOf,
} from './fields';
import { PASSKEY_SCRIPT } from './passkey-script';
import type { Sentence } from './texts';
import type { Parts } from '../endpoints/method';

/** Shows the sign-in page; redirects people who are signed in to their settings. */
export async function signInPage(request: BrowserRequest, parts: Parts): Promise<void> {
  const { ctx } = request;
  const to = returnOf(ctx.query['return']);
  const { accountId } = await request.session();
  if (accountId !== undefined && to === undefined) {
    request.redirect('/settings');
    return;
  }
  const { link } = ctx.query;
  if (typeof link === 'string' && ctx.method === 'GET') {
    await openLink(request, parts, link, to);
    return;
  }
  const isAgain = ctx.query['again'] !== undefined;
  await showForm(request, parts, { to, isAgain });
}

/** Signs a person in who opens a link on this machine, without a proxy. */
async function openLink(
  request: BrowserRequest,
  parts: Parts,
  link: string,
  to: string | undefined,
): Promise<void> {
  const isHere = isLoopback(new URL(request.origin)) && isFromHere(request.ctx);
  const name = isHere ? await parts.people.spendLink(link) : undefined;
  if (name !== undefined) await request.signIn(name);
  // Whom the link has signed in may open it again.
  else if ((await request.session()).accountId === undefined) {
    await showForm(request, parts, { to, fault: 'badLink', status: 400 });
    return;
  }
  request.redirect(to ?? '/settings');
}

function isFromHere(ctx: Context): boolean {
  const { remoteAddress = '' } = ctx.req.socket;
  const isLocal =
    ipaddr.isValid(remoteAddress) && ipaddr.process(remoteAddress).range() === 'loopback';
  return isLocal && ctx.get('X-Forwarded-For') === '' && ctx.get('Forwarded') === '';
}

/** Refusals that count against the address. */
const FAILURES: readonly Sentence[] = ['wrong', 'badPasskey', 'tooMany'];

/** Signs a person in with a passkey, or a name and a password. */
export async function signIn(request: BrowserRequest, parts: Parts): Promise<void> {
  const { ctx, api } = request;
  const { people } = parts;
  const form = await request.form();
  await api.refuseSpent(ctx);
  let name = (form.get('name') ?? '').trim();
  const passkey = form.get('passkey') ?? '';
  const to = returnOf(form.get('return'));
  try {
    if (passkey === '') {
      const given = { name, password: form.get('password') ?? '' };
      await people.signIn(request.page, given, () => request.signIn(name));
    } else {
      name = await people.checkPasskey(request.page, passkey);
      await request.signIn(name);
    }
  } catch (error) {
    const { sentence: fault, status } = request.faultOf(error);
    if (FAILURES.includes(fault)) await api.recordFailure(ctx);
    await showForm(request, parts, { to, fault, status, name });
    return;
  }
  request.redirect(to ?? '/settings');
}

interface SignInForm {
  to: string | undefined;
  /** Whether the person is signed in, but not recently enough. */
  isAgain?: boolean;
  fault?: Sentence;
  status?: number;
  name?: string;
}

async function showForm(
  request: BrowserRequest,
  { people, mails, isOpen }: Parts,
  { to, isAgain = false, fault, status = 200, name = '' }: SignInForm,
): Promise<void> {
  const { texts } = request;
  const options = await people.passkeys.authenticationOptions(request.page);
  const maySignUp = isOpen || hasCode(request);
  const signUp = to === undefined ? '/sign-up' : `/sign-up?return=${encodeURIComponent(to)}`;
  const content = markup`${faultSummary(texts, fault)} ${isAgain && markup`<p>${texts.again}</p>`}
    <form method="post" action="/sign-in">
      ${request.csrfField()} ${returnField(to)}
      ${nameField(texts, name, fault)}
      ${passwordField('password', texts.password)}
      <button class="main">${texts.signIn}</button>
      ${passkeyButton(texts, texts.usePasskey, options)}
    </form>
    ${mails.isOn && markup`<p><a href="/forgot">${texts.forgot}</a></p>`}
    ${maySignUp && markup`<p>${texts.newAccount} <a href="${signUp}">${texts.signUp}</a></p>`}`;
  request.show(texts.signIn, content, { status, script: options && PASSKEY_SCRIPT });
}
