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

/** The person who is signed in; if nobody is, asks them to, and returns undefined. */
export async function signedIn(
  request: BrowserRequest,
  { store, issuer }: Parts,
): Promise<SignedIn | undefined> {
  const { accountId, loginTs = 0, jti, exp } = await request.session();
  const account = accountId === undefined ? undefined : await store.accounts.person(accountId);
  if (account) return { account, here: publicId(hashOf(jti)), since: loginTs, until: exp };
  if (issuer) showIssuer(request, issuer, false);
  else request.redirect(`/sign-in?return=${request.ctx.path}`);
  return undefined;
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
    const { account, here, until } = person;
    const scopes = usualScopes(request.api.scopes);
    const name = request.browser;
    const token = { id: here, name, scopes, expiresAt: new Date(until * 1000) };
    const principal = { account, scopes: new Set(scopes), token, isSession: true } as const;
    const { ctx } = request;
    ctx.state.principal = principal;
    try {
      await show(request, account);
    } finally {
      // These are about the calls of operations, of which a page makes several.
      for (const name of ctx.res.getHeaderNames().filter(isOfCall)) ctx.remove(name);
    }
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
