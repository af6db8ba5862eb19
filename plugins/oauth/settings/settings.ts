import { personalScopes, usualScopes } from '../../accounts';
import type { Parts } from '../endpoints/method';
import { gardensOf } from '../pages/gardens';
import { PageFault } from '../pages/texts';
import type { BrowserRequest } from '../pages/browser-request';
import { sessionsOf } from '../state/sessions';
import { type SignedIn, signedIn } from '../pages/signed-in';
import { ACTIONS, SENSITIVE } from './actions';
import { showIssuer } from './issuer-notice';
import { type Outcome, showSettings } from './page';
import { sharingOf } from './sharing-forms';

/** How old a sign-in may be for the actions in {@link SENSITIVE}. */
const FRESH_SECONDS = 3600;

/** Shows the settings, or asks the person to sign in first. */
export async function settingsPage(request: BrowserRequest, parts: Parts): Promise<void> {
  const person = await signedIn(request, parts);
  if (!person) return;
  const { done: names } = request.texts;
  const { done } = request.ctx.query;
  // Its own keys.
  const known = (Object.keys(names) as (keyof typeof names)[]).find((name) => name === done);
  await show(request, parts, person, { done: known });
}

/** Handles a form of the settings. */
export async function changeSettings(request: BrowserRequest, parts: Parts): Promise<void> {
  const form = await request.form();
  const person = await signedIn(request, parts);
  if (!person) return;
  const name = form.get('action') ?? '';
  if (SENSITIVE.has(name) && Date.now() / 1000 - person.since >= FRESH_SECONDS) {
    if (parts.issuer) showIssuer(request, parts.issuer, true);
    else request.redirect('/sign-in?return=/settings&again=1');
    return;
  }
  try {
    const action = ACTIONS.get(name);
    if (!action) throw new PageFault('gone');
    const outcome = await action({ request, parts, person, account: person.account.id, form });
    if (outcome?.done !== undefined) request.redirect(`/settings?done=${outcome.done}`);
    else if (outcome) await show(request, parts, person, outcome);
  } catch (error) {
    const { sentence: fault, status } = request.faultOf(error);
    await show(request, parts, person, { fault, status, form });
  }
}

async function show(
  request: BrowserRequest,
  { store, people, mails, issuer }: Parts,
  person: SignedIn,
  outcome: Outcome,
): Promise<void> {
  const { accounts } = store;
  const {
    account: { id: account, timezone },
    here,
  } = person;
  const { scopes } = request.api;
  const [tokens, apps, gardens, sessions, credentials, email] = await Promise.all([
    accounts.tokens.validTokens(account),
    store.authorizedApps(account),
    gardensOf(store, account),
    sessionsOf(store, account),
    people.credentials.find(account),
    mails.isOn ? mails.addresses.of(account) : undefined,
  ]);
  const passkeys = credentials?.passkeys ?? [];
  const known = passkeys.map(({ id }) => id);
  const settings = {
    account,
    timezone,
    tokens,
    apps,
    gardens,
    passkeys,
    hasPassword: credentials?.passwordHash !== undefined,
    newPasskey: issuer
      ? undefined
      : await people.passkeys.registrationOptions(request.page, account, known),
    issuer,
    email: email && email.address,
    sessions,
    here,
    sharing: await sharingOf(request, person),
    scopes: { all: personalScopes(scopes), usual: usualScopes(scopes) },
  };
  showSettings(request, settings, outcome);
}
