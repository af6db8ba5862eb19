import type { Configuration } from 'oidc-provider';

import { hashOf } from '../../../src/core/identity';
import { DAY_MS } from '../../../src/core/time';
import { personalScopes, usualScopes } from '../../accounts';
import { TOOLS_PATH } from '../../mcp';
import { StoredModel } from '../state/adapter';
import { scopesIn, type StateStore } from '../state/store';
import { adaptMetadata, documentHost, GRANTS } from './client-metadata';
import { DOCUMENT_BYTES, type Documents } from './documents';
import type { Library } from './library';

const DAY = DAY_MS / 1000;
const ACCESS_TOKEN_SECONDS = 3600;
/** How far ahead an assertion of a client may expire. */
const ASSERTION_SECONDS = 300;
export const SESSION_SECONDS = 30 * DAY;

/** The paths of the library's endpoints. */
export const PATHS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  jwks: '/oauth/jwks',
  registration: '/oauth/register',
} as const;

/** Scopes that clients may request besides those of the API. */
export const OWN_SCOPES = ['openid', 'offline_access'];

export interface ServerDependencies {
  store: StateStore;
  documents: Documents;
  renderError: NonNullable<Configuration['renderError']>;
}

/** The resources at an origin, each with and without a trailing slash. */
function resourcesAt(origin: string): ReadonlySet<string> {
  return new Set([origin, `${origin}${TOOLS_PATH}`].flatMap((each) => [each, `${each}/`]));
}

/** The library's configuration for the authorization server at an origin. */
export function configurationFor(
  origin: string,
  jwks: NonNullable<Configuration['jwks']>,
  library: Library,
  { store, documents, renderError }: ServerDependencies,
): Configuration {
  const { InvalidClientAuth, InvalidClientMetadata, InvalidTarget } = library.errors;
  const { scopes } = store.host;
  const isSecure = origin.startsWith('https:');
  const resources = resourcesAt(origin);
  const cookie = { httpOnly: true, sameSite: 'lax', secure: isSecure, signed: false } as const;
  return {
    adapter: (kind) => new StoredModel(kind, store, library),
    jwks,
    routes: PATHS,
    scopes: OWN_SCOPES,
    responseTypes: ['code'],
    clientAuthMethods: ['none', 'private_key_jwt', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: { grant_types: GRANTS, token_endpoint_auth_method: 'none' },
    assertJwtClientAuthClaimsAndHeader: async (_ctx, { aud, exp }) => {
      // The library stores each assertion until it expires.
      if (Number(exp) > Date.now() / 1000 + ASSERTION_SECONDS) {
        throw new InvalidClientAuth(`exp must be at most ${ASSERTION_SECONDS} seconds ahead`);
      }
      const audiences = [aud].flat();
      if (audiences.length !== 1 || audiences[0] !== origin) {
        throw new InvalidClientAuth('aud must be the issuer alone');
      }
    },
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
      clientIdMetadataDocument: { enabled: documents.isAnnounced, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_ctx, _client, oneOf) => [oneOf ?? origin].flat()[0] ?? origin,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => {
          if (!resources.has(resource)) throw new InvalidTarget();
          return {
            scope: personalScopes(scopes).join(' '),
            audience: resource,
            accessTokenFormat: 'opaque',
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
          };
        },
      },
    },
    extraClientMetadata: {
      // The library calls the validator for properties that it does not know, so it needs one.
      properties: ['software_id'],
      validator: (ctx: unknown, _key, _value, metadata) => {
        // The library passes a context with a registration alone.
        const isNew = ctx !== undefined || documentHost(metadata['client_id']) !== undefined;
        adaptMetadata(metadata, isNew, InvalidClientMetadata);
      },
    },
    extraParams: {
      // Runs after the library's own checks. Clients that request no scope of ours get the usual ones.
      scope: (ctx) => {
        const { params } = ctx.oidc;
        if (!params) return;
        const requested = scopesIn(params['scope']);
        const all = personalScopes(scopes);
        const known = requested.filter((scope) => all.includes(scope));
        const own = requested.filter((scope) => OWN_SCOPES.includes(scope));
        params['scope'] = [...own, ...(known.length > 0 ? known : usualScopes(scopes))].join(' ');
      },
    },
    interactions: { url: (_ctx, { uid }) => `/oauth/consent/${uid}` },
    findAccount: async (_ctx, accountId) =>
      (await store.accounts.isOpen(accountId))
        ? { accountId, claims: () => ({ sub: accountId }) }
        : undefined,
    extraTokenClaims: async (_ctx, token) => {
      const { client, clientId } = token;
      const grant = 'grantId' in token ? token.grantId : undefined;
      const garden = grant === undefined ? undefined : await store.gardenOf(hashOf(grant));
      return { name: client?.clientName ?? clientId, ...(garden && { garden }) };
    },
    // Each consent is a grant of its own, and lists everything that the client gets.
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
      // The adapter ends it when it has been unused for long.
      Grant: 3650 * DAY,
    },
    discovery: { service_documentation: `${origin}/docs` },
    fetch: documents.fetch,
    fetchResponseBodyLimits: DOCUMENT_BYTES,
    renderError,
  };
}
