import { type Account, hashOf } from '../../../src/core/identity';
import type { ProtocolMethod } from '../../../src/plugins/protocol-endpoint';
import { usualScopes } from '../../accounts';
import { pagesOf, type Parts } from '../endpoints/method';
import { showIssuer } from '../settings/issuer-notice';
import { publicId } from '../state/store';
import type { BrowserRequest } from './browser-request';

/** A person who is signed in with a browser. */
export interface SignedIn {
  account: Account;
  /** The id of this browser's session. */
  here: string;
  /** When they signed in, and when the session ends, in seconds since 1970. */
  since: number;
  until: number;
}

/** The person who is signed in, if anybody is. */
export async function personOf(
  request: BrowserRequest,
  { store }: Parts,
): Promise<SignedIn | undefined> {
  const { accountId, loginTs = 0, jti, exp } = await request.session();
  const account = accountId === undefined ? undefined : await store.accounts.person(accountId);
  return account && { account, here: publicId(hashOf(jti)), since: loginTs, until: exp };
}

/** The same; if nobody is signed in, asks them to, and returns undefined. */
export async function signedIn(
  request: BrowserRequest,
  parts: Parts,
): Promise<SignedIn | undefined> {
  const person = await personOf(request, parts);
  if (!person) askToSignIn(request, parts);
  return person;
}

/** Asks the person to sign in, and to come back. */
export function askToSignIn(request: BrowserRequest, { issuer }: Parts): void {
  if (issuer) showIssuer(request, issuer, false);
  else request.redirect(`/sign-in?return=${request.ctx.path}`);
}

/** Runs work in which the person of a session calls operations, within some scopes. */
export async function actAs(
  request: BrowserRequest,
  { account, here, until }: SignedIn,
  scopes: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const { ctx } = request;
  const name = request.browser;
  const token = { id: here, name, scopes, expiresAt: new Date(until * 1000) };
  ctx.state.principal = { account, scopes: new Set(scopes), token, isSession: true };
  try {
    await work();
  } finally {
    // These are about the calls of operations, of which a page makes several.
    for (const header of ctx.res.getHeaderNames().filter(isOfCall)) ctx.remove(header);
  }
}

type Show = (request: BrowserRequest, account: Account) => Promise<void>;
type Submit = (request: BrowserRequest, account: Account, form: URLSearchParams) => Promise<void>;

/** Pages of other plugins, for people who are signed in: they call operations on their behalf. */
export interface PersonalPages {
  /** The method of a page. */
  page(operationId: string, summary: string, show: Show): ProtocolMethod;
  /** The method of the forms of a page. */
  form(operationId: string, summary: string, submit: Submit): ProtocolMethod;
}

function isOfCall(header: string): boolean {
  return /ratelimit|^idempotent-/.test(header);
}

export function personalPages(parts: Parts): PersonalPages {
  const { page, form } = pagesOf(parts);
  const asPerson = (show: Show) => async (request: BrowserRequest) => {
    const person = await signedIn(request, parts);
    if (!person) return;
    await actAs(request, person, usualScopes(request.api.scopes), () =>
      show(request, person.account),
    );
  };
  return {
    page: (id, summary, show) => page(id, summary, asPerson(show)),
    form: (id, summary, submit) =>
      form(id, summary, async (request) => {
        // A forged form leads nowhere, not even to the page of sign-in.
        const sent = await request.form();
        await asPerson((_, account) => submit(request, account, sent))(request);
      }),
  };
}
