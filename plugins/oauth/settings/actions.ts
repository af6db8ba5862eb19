import { Readable } from 'node:stream';

import { ApiError } from '../../../src/core/errors';
import { isUuid } from '../../../src/core/ids';
import { DAY_MS } from '../../../src/core/time';
import type { Transaction } from '../../../src/data/transaction';
import { personalScopes, tokenFields, tokenLimitReached } from '../../accounts';
import { markup } from '../../pages';
import type { Parts } from '../endpoints/method';
import { PageFault } from '../pages/texts';
import type { Visit } from '../pages/visit';
import { endSessions } from '../state/sessions';
import { type Outcome, TOKEN_DAYS } from './page';

/** Somebody who is signed in, and the form that they sent. */
export interface Sent {
  visit: Visit;
  parts: Parts;
  account: string;
  form: URLSearchParams;
}

/** What a form does. */
interface Action {
  /** Whether a session is not enough that somebody left open: it must have begun a while ago at most. */
  isGrave?: boolean;
  /** Nothing is returned where the answer is given already. @throws PageFault */
  run(sent: Sent): Promise<Outcome | undefined>;
}

/** How often an account may be exported: it reads all that there is. */
const EXPORTS = { most: 10, seconds: 3600 };

/** What the forms of the settings do, by their names. */
export const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['makeToken', { isGrave: true, run: makeToken }],
  [
    'revokeToken',
    {
      run: async (sent) => {
        const { accounts } = sent.parts.store;
        const isRevoked = await transact(sent, (tx) => accounts.revokeOwn(tx, idIn(sent)));
        if (!isRevoked) throw new PageFault('gone');
        return { done: 'tokenRevoked' };
      },
    },
  ],
  [
    'revokeProgram',
    {
      run: async (sent) => {
        const { visit, parts, account } = sent;
        const isEnded = await parts.store.endProgram(account, idIn(sent), visit.acting(account));
        if (!isEnded) throw new PageFault('gone');
        return { done: 'programRevoked' };
      },
    },
  ],
  ['setPassword', { isGrave: true, run: setPassword }],
  [
    'endSession',
    {
      run: async (sent) => {
        const { visit, parts, account: user } = sent;
        const which = { id: idIn(sent), user };
        const ended = await endSessions(parts.store, which, visit.acting(user));
        if (ended.length === 0) throw new PageFault('gone');
        return { done: 'sessionEnded' };
      },
    },
  ],
  ['export', { run: exportAccount }],
  ['delete', { isGrave: true, run: deleteAccount }],
]);

async function makeToken(sent: Sent): Promise<Outcome> {
  const { visit, parts, form } = sent;
  const name = form.get('name') ?? '';
  if (tokenFields.name.validate(name).error) throw new PageFault('badTokenName');
  const scopes = personalScopes(visit.api.scopes).filter((scope) =>
    form.getAll('scope').includes(scope),
  );
  if (scopes.length === 0) throw new PageFault('noScope');
  const days = TOKEN_DAYS.find((each) => String(each) === form.get('days')) ?? TOKEN_DAYS[0] ?? 1;
  const wanted = { name, scopes, expiresIn: (days * DAY_MS) / 1000, endsBy: undefined };
  try {
    const { token } = await transact(sent, (tx) => parts.store.accounts.makeOwn(tx, wanted));
    return { token };
  } catch (error) {
    if (error instanceof ApiError && error.kind === tokenLimitReached) {
      throw new PageFault('tooManyTokens', error.status);
    }
    throw error;
  }
}

async function setPassword({ visit, parts, account, form }: Sent): Promise<Outcome> {
  const { api, ctx } = visit;
  await api.refuseSpent(ctx);
  const passwords = { now: form.get('now') ?? '', next: form.get('password') ?? '' };
  const onFailure = (): Promise<void> => api.recordFailure(ctx);
  await parts.people.setPassword(account, passwords, visit.acting, onFailure);
  // Which ended all sessions.
  await visit.signIn(account);
  return { done: 'passwordSet' };
}

async function exportAccount({ visit, parts, account }: Sent): Promise<undefined> {
  const { ctx } = visit;
  const { store } = parts;
  if (!(await store.spend(`export ${account}`, EXPORTS))) throw new PageFault('tooOften', 429);
  const pieces = await store.accounts.exportUser(account, visit.acting(account));
  if (!pieces) throw new PageFault('gone');
  ctx.type = 'application/json';
  ctx.set('Cache-Control', 'no-store');
  ctx.attachment('plant-care.json');
  ctx.body = Readable.from(pieces, { objectMode: false });
}

async function deleteAccount(sent: Sent): Promise<undefined> {
  const { visit, parts, account, form } = sent;
  if (form.get('confirm') !== account) throw new PageFault('notYourName');
  await transact(sent, (tx) => parts.store.accounts.close(tx));
  await visit.signOut();
  const { deleted, deletedAbout } = visit.texts;
  visit.show(deleted, markup`<p>${deletedAbout}</p>`);
}

/** @throws PageFault where it can be no id of anything */
function idIn({ form }: Sent): string {
  const id = form.get('id') ?? '';
  if (!isUuid(id)) throw new PageFault('gone');
  return id;
}

/** Does a write to the data of who sent a form, as that person. */
function transact<T>(
  { visit, parts, account }: Sent,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return parts.host.transact(account, (tx) => work(tx.as(visit.acting(account))));
}
