import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';

import { TOOLS_PATH } from '../../../src/core/settings/public-origin';
import { DAY_MS } from '../../../src/core/time';
import { StoredModel } from '../state/adapter';
import { scopesIn, type StateStore } from '../state/store';
import { adaptMetadata, GRANTS } from './client-metadata';
import { DocumentFetcher } from './documents';
import type { Library } from './library';

const DAY = DAY_MS / 1000;
export const ACCESS_TOKEN_SECONDS = 3600;
export const SESSION_SECONDS = 30 * DAY;

/** How much of what programs have elsewhere is read. */
const FETCHED_BYTES = { 'client_id metadata document': 5 * 1024, jwks_uri: 64 * 1024 };

/** Where the library serves what. */
export const PATHS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  jwks: '/oauth/jwks',
  registration: '/oauth/register',
} as const;

/** What a program may ask for besides scopes of the API. */
export const OWN_SCOPES = ['openid', 'offline_access'];

export interface ServerDependencies {
  store: StateStore;
  /** Scopes that a person may let a program have, and those it gets that names none. */
  scopes: () => { all: readonly string[]; usual: readonly string[] };
  /** Whether an address may do something once more. */
  mayFetch: (ctx: KoaContextWithOIDC) => Promise<boolean>;
  renderError: NonNullable<Configuration['renderError']>;
}

/** The resources that there are at an origin, each with and without a slash behind it. */
function resourcesAt(origin: string): ReadonlySet<string> {
  return new Set([origin, `${origin}${TOOLS_PATH}`].flatMap((each) => [each, `${each}/`]));
}

/** How the library is to be the authorization server at an origin. */
export function configurationFor(
  origin: string,
  jwks: NonNullable<Configuration['jwks']>,
  library: Library,
  { store, scopes, mayFetch, renderError }: ServerDependencies,
): Configuration {
  const { InvalidClientMetadata, InvalidGrant, InvalidTarget } = library.errors;
  const isSecure = origin.startsWith('https:');
  const documents = new DocumentFetcher();
  const resources = resourcesAt(origin);
  const cookie = { httpOnly: true, sameSite: 'lax', secure: isSecure, signed: false } as const;
  return {
    adapter: (kind) => new StoredModel(kind, store, InvalidGrant),
    jwks,
    routes: PATHS,
    scopes: OWN_SCOPES,
    responseTypes: ['code'],
    clientAuthMethods: ['none', 'private_key_jwt', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: { grant_types: GRANTS, token_endpoint_auth_method: 'none' },
    pkce: { required: () => true },
    cookies: {
      names: {
        session: isSecure ? '__Host-session' : 'session',
        interaction: isSecure ? '__Secure-interaction' : 'interaction',
        resume: isSecure ? '__Secure-resume' : 'resume',
      },
      long: { ...cookie, path: '/' },
      short: cookie,
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02', allowFetch: mayFetch },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_ctx, _client, oneOf) => [oneOf ?? origin].flat()[0] ?? origin,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => {
          if (!resources.has(resource)) throw new InvalidTarget();
          return {
            scope: scopes().all.join(' '),
            audience: resource,
            accessTokenFormat: 'opaque',
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
          };
        },
      },
    },
    extraClientMetadata: {
      // One that the library does not know itself: it asks about each of these only.
      properties: ['software_id'],
      validator: (_ctx, _key, _value, metadata) => {
        adaptMetadata(metadata, InvalidClientMetadata);
      },
    },
    extraParams: {
      // Comes after the library's own checks: whoever names no scope of ours gets the usual ones.
      scope: (ctx) => {
        const { params } = ctx.oidc;
        if (!params) return;
        const { all, usual } = scopes();
        const asked = scopesIn(params['scope']);
        const known = asked.filter((scope) => all.includes(scope));
        const own = asked.filter((scope) => OWN_SCOPES.includes(scope));
        params['scope'] = [...own, ...(known.length > 0 ? known : usual)].join(' ');
      },
    },
    interactions: { url: (_ctx, { uid }) => `/oauth/consent/${uid}` },
    findAccount: async (_ctx, accountId) =>
      (await store.accounts.isOpen(accountId))
        ? { accountId, claims: () => ({ sub: accountId }) }
        : undefined,
    extraTokenClaims: (_ctx, token) => ({ name: token.client?.clientName ?? token.clientId }),
    // Each consent is a grant of its own, and says all that the program gets by it.
    loadExistingGrant: async (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId);
    },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    rotateRefreshToken: true,
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: 60,
      IdToken: ACCESS_TOKEN_SECONDS,
      Interaction: 600,
      RefreshToken: () => 90 * DAY,
      Session: SESSION_SECONDS,
      // It ends when nothing was got by it for long (see the adapter).
      Grant: 3650 * DAY,
    },
    discovery: { service_documentation: `${origin}/docs` },
    fetch: documents.fetch,
    fetchResponseBodyLimits: FETCHED_BYTES,
    renderError,
  };
}
