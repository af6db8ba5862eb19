import { Readable } from 'node:stream';

import { ApiError } from '../../../src/core/errors';
import { isUuid } from '../../../src/core/ids';
import { DAY_MS } from '../../../src/core/time';
import type { Transaction } from '../../../src/data/writing/transaction';
import { addressIn } from '../../mail';
import { personalScopes, tokenFields, tokenLimitReached } from '../../accounts';
import { markup } from '../../pages';
import type { Parts } from '../endpoints/method';
import { PageFault } from '../pages/texts';
import type { BrowserRequest } from '../pages/browser-request';
import { chosenGarden, chosenScopes } from '../pages/gardens';
import type { SignedIn } from '../pages/signed-in';
import { endSessions } from '../state/sessions';
import { type Outcome, TOKEN_DAYS } from './page';
import { SHARING } from './sharing-forms';

/** A form of the settings, and the person who sent it. */
export interface Sent {
  request: BrowserRequest;
  parts: Parts;
  person: SignedIn;
  account: string;
  form: URLSearchParams;
}

/** Handles a form; returns undefined if it has responded itself. @throws PageFault */
type Action = (sent: Sent) => Promise<Outcome | undefined>;

/** Actions that need a recent sign-in, so that a browser left open is not enough. */
export const SENSITIVE: ReadonlySet<string> = new Set([
  'makeToken',
  'inviteMember',
  'makeLink',
  'changeMember',
  'addPasskey',
  'removePasskey',
  'setPassword',
  'setEmail',
  'removeEmail',
  'export',
  'delete',
]);

/** How often an account may be exported, which reads everything. */
const EXPORTS = { most: 10, seconds: 3600 };

/** The forms of the settings, by name. */
export const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['signOut', signOut],
  ['makeToken', makeToken],
  ['revokeToken', revokeToken],
  ['revokeApp', revokeApp],
  ['addPasskey', addPasskey],
  ['removePasskey', removePasskey],
  ['setPassword', setPassword],
  ['setEmail', setEmail],
  ['removeEmail', removeEmail],
  ['endSession', endSession],
  ['export', exportAccount],
  ['delete', deleteAccount],
  ...Object.entries(SHARING),
]);

async function signOut({ request }: Sent): Promise<undefined> {
  await request.signOut();
  request.redirect('/settings');
}

async function makeToken(sent: Sent): Promise<Outcome> {
  const { request, parts, account, form } = sent;
  const name = form.get('name') ?? '';
  if (tokenFields.name.validate(name).error) throw new PageFault('badTokenName');
  const bound = await chosenGarden(parts.store, account, form);
  const scopes = chosenScopes(form, personalScopes(request.api.scopes), bound?.shared);
  if (scopes.length === 0) throw new PageFault('noScope');
  const days = TOKEN_DAYS.find((each) => String(each) === form.get('days')) ?? TOKEN_DAYS[0] ?? 1;
  const expiresIn = (days * DAY_MS) / 1000;
  const wanted = { name, scopes, expiresIn, endsBy: undefined, garden: bound?.garden };
  try {
    const { token } = await transact(sent, (tx) => parts.store.accounts.tokens.makeOwn(tx, wanted));
    return { token };
  } catch (error) {
    if (error instanceof ApiError && error.kind === tokenLimitReached) {
      throw new PageFault('tooManyTokens', error.status);
    }
    throw error;
  }
}

async function revokeToken(sent: Sent): Promise<Outcome> {
  const { accounts } = sent.parts.store;
  if (await transact(sent, (tx) => accounts.tokens.revokeOwn(tx, idIn(sent)))) {
    return { done: 'tokenRevoked' };
  }
  throw new PageFault('gone');
}

async function revokeApp(sent: Sent): Promise<Outcome> {
  const { request, parts, account } = sent;
  if (await parts.store.revokeApp(account, idIn(sent), request.acting(account))) {
    return { done: 'appRevoked' };
  }
  throw new PageFault('gone');
}

async function addPasskey({ request, parts, account, form }: Sent): Promise<Outcome> {
  const { credentials, passkeys } = parts.people;
  const passkey = await passkeys.verifyRegistration(
    request.page,
    account,
    form.get('passkey') ?? '',
    request.browser,
  );
  await credentials.addPasskey(account, passkey, request.acting(account));
  return { done: 'passkeyAdded' };
}

async function removePasskey({ request, parts, account, form }: Sent): Promise<Outcome> {
  await parts.people.credentials.removePasskey(
    account,
    form.get('id') ?? '',
    request.acting(account),
  );
  return { done: 'passkeyRemoved' };
}

async function endSession(sent: Sent): Promise<Outcome> {
  const { request, parts, account: user } = sent;
  const ended = await endSessions(parts.store, { id: idIn(sent), user }, request.acting(user));
  if (ended.length === 0) throw new PageFault('gone');
  return { done: 'sessionEnded' };
}

async function setPassword({ request, parts, account, form }: Sent): Promise<Outcome> {
  const passwords = { now: form.get('now') ?? '', next: form.get('password') ?? '' };
  await parts.people.setPassword(account, passwords, request.acting(account));
  // All sessions have ended, this one included.
  await request.signIn(account);
  return { done: 'passwordSet' };
}

async function setEmail({ request, parts, account, form }: Sent): Promise<Outcome> {
  if (!parts.mails.isOn) throw new PageFault('gone');
  const address = addressIn(form.get('email') ?? '');
  if (address === undefined) throw new PageFault('badEmail');
  await parts.mails.confirm(account, address, request.language);
  return { done: 'linkSent' };
}

async function removeEmail({ request, parts, account }: Sent): Promise<Outcome> {
  await parts.mails.remove(account, request.acting(account));
  return { done: 'emailRemoved' };
}

async function exportAccount({ request, parts, account }: Sent): Promise<undefined> {
  const { ctx } = request;
  const { store } = parts;
  if (!(await store.spend(`export ${account}`, EXPORTS))) {
    throw new PageFault('tooOften', 429, EXPORTS.seconds);
  }
  await request.api.limitExport(ctx, account, async () => {
    const pieces = await store.accounts.data.exportUser(account, request.acting(account));
    if (!pieces) throw new PageFault('gone');
    ctx.type = 'application/json';
    ctx.set('Cache-Control', 'no-store');
    ctx.attachment('plant-care.json');
    ctx.body = Readable.from(pieces, { objectMode: false });
  });
}

async function deleteAccount(sent: Sent): Promise<undefined> {
  const { request, parts, account, form } = sent;
  if (form.get('confirm') !== account) throw new PageFault('notYourName');
  await transact(sent, (tx) => parts.store.accounts.data.close(tx));
  await request.signOut();
  const { deleted, deletedAbout } = request.texts;
  request.show(deleted, markup`<p>${deletedAbout}</p>`);
}

/** @throws PageFault if the id is not a UUID */
function idIn({ form }: Sent): string {
  const id = form.get('id') ?? '';
  if (!isUuid(id)) throw new PageFault('gone');
  return id;
}

/** Writes to the account of the person who sent a form, on their behalf. */
function transact<T>(
  { request, parts, account }: Sent,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return parts.host.transact(account, (tx) => work(tx.as(request.acting(account))));
}
