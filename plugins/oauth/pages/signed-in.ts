import { type Account, type Garden, hashOf, type Principal } from '../../../src/core/identity';
import type { ProtocolMethod } from '../../../src/plugins/protocol-endpoint';
import { usualScopes } from '../../accounts';
import { pagesOf, type Parts } from '../endpoints/method';
import { showIssuer } from '../settings/issuer-notice';
import { publicId } from '../state/store';
import type { BrowserRequest } from './browser-request';
import { PageFault } from './texts';

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
  else request.redirect(`/sign-in?return=${encodeURI(request.ctx.path)}`);
}

/** The caller that a person is to operations, within some scopes. */
export function principalOf(
  { browser: name }: BrowserRequest,
  { account, here, until }: SignedIn,
  scopes: readonly string[],
): Principal {
  const token = { id: here, name, scopes, expiresAt: new Date(until * 1000) };
  return { account, scopes: new Set(scopes), token, isSession: true };
}

/** Runs work that calls operations as somebody, in the garden of another if one is given. */
export async function actAs(
  { ctx }: BrowserRequest,
  { principal, garden }: { principal: Principal; garden?: Garden | undefined },
  work: () => Promise<void>,
): Promise<void> {
  Object.assign(ctx.state, { principal: { ...principal, garden }, garden });
  garden?.recordUse();
  try {
    await work();
  } finally {
    // These are about the calls of operations, of which a page makes several.
    for (const header of ctx.res.getHeaderNames().filter(isOfCall)) ctx.remove(header);
  }
}

function isOfCall(header: string): boolean {
  return /ratelimit|^idempotent-/.test(header);
}

/** Where a page is shown. */
export interface Place {
  /** Who is signed in; undefined for a sitter. */
  person: Account | undefined;
  /** The garden of another; undefined for the person's own. */
  garden: Garden | undefined;
}

type Show = (request: BrowserRequest, place: Place) => Promise<void>;
type Submit = (request: BrowserRequest, place: Place, form: URLSearchParams) => Promise<void>;

/**
 * Pages of other plugins, which call operations on behalf of a person: in the garden that the parameter `garden`
 * of the path names, or else in their own.
 */
export interface PersonalPages {
  /** The method of a page. */
  page(operationId: string, summary: string, show: Show): ProtocolMethod;
  /** The method of the forms of a page. */
  form(operationId: string, summary: string, submit: Submit): ProtocolMethod;
  /** The same pages for whoever has the link of a sitter, whose secret is the parameter `secret` of the path. */
  sitter: Pick<PersonalPages, 'page' | 'form'>;
}

type Doorway = (show: Show) => (request: BrowserRequest) => Promise<void>;

export function personalPages(parts: Parts): PersonalPages {
  const { page, form } = pagesOf(parts);
  const asPerson: Doorway = (show) => async (request) => {
    const person = await signedIn(request, parts);
    if (!person) return;
    const { account } = person;
    const { garden: id } = request.ctx.params as { garden?: string };
    const isOther = id !== undefined && id !== account.id;
    const garden = isOther ? await parts.gardens.find(id, account.id) : undefined;
    if (isOther && !garden) throw new PageFault('gardenGone', 404);
    const principal = principalOf(request, person, usualScopes(request.api.scopes));
    await actAs(request, { principal, garden }, () => show(request, { person: account, garden }));
  };
  const asSitter: Doorway = (show) => async (request) => {
    const { api, ctx } = request;
    const { secret = '' } = ctx.params as { secret?: string };
    await api.refuseSpent(ctx);
    const garden = await parts.gardens.sitting(secret);
    if (!garden) {
      await api.recordFailure(ctx);
      throw new PageFault('linkGone', 404);
    }
    const principal = sitterOf(garden);
    await actAs(request, { principal, garden }, () => show(request, { person: undefined, garden }));
  };
  const methodsOf = (through: Doorway, options: Pick<ProtocolMethod, 'countsFailures'>) => ({
    page: (id: string, summary: string, show: Show) => page(id, summary, through(show), options),
    form: (id: string, summary: string, submit: Submit) => {
      const change = async (request: BrowserRequest) => {
        // A forged form leads nowhere, not even to the page of sign-in.
        const sent = await request.form();
        await through((_, place) => submit(request, place, sent))(request);
      };
      return form(id, summary, change, options);
    },
  });
  return { ...methodsOf(asPerson, {}), sitter: methodsOf(asSitter, { countsFailures: true }) };
}

/** The caller that a sitter is to operations. */
function sitterOf({ account, by, scopes }: Garden): Principal {
  const token = { id: by.id, name: by.name, scopes: [...scopes], expiresAt: new Date() };
  // Under the id of the member: rate limits are theirs.
  return { account: { ...account, id: by.id }, scopes, token, isSitter: true };
}
