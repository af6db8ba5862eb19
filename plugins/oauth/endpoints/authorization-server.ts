import type { IncomingMessage } from 'node:http';

import type { Context, Middleware } from 'koa';
import compose from 'koa-compose';
import type Provider from 'oidc-provider';

import { notFound, rateLimited } from '../../../src/core/errors';
import { JsonLimits } from '../../../src/core/text/json-limits';
import type {
  ProtocolApi,
  ProtocolEndpoint,
  ProtocolMethod,
} from '../../../src/plugins/protocol-endpoint';
import { PageFault } from '../pages/texts';
import { showFault } from '../pages/browser-request';
import { PATHS } from '../server/configuration';
import { loadLibrary } from '../server/library';
import { scopesIn } from '../state/store';
import {
  access,
  answers,
  atServer,
  DOCUMENT,
  oauthErrors,
  type Named,
  open,
  PAGES,
  type Parts,
  showOAuthError,
  withFaultsShown,
} from './method';

/** How many authorizations an address may start. */
const AUTHORIZATIONS = { most: 300, seconds: 60 };
const REGISTRATIONS = { most: 120, seconds: 3600 };
/** How many clients may be registered; unused ones are deleted. */
const MAX_CLIENTS = 20_000;

const DISCOVERY = { summary: 'Get the metadata of the authorization server (RFC 8414)' };

/** Checks a request before the library handles it. */
type Guard = (ctx: Context, api: ProtocolApi) => Promise<void>;

/** The endpoints of the authorization server. */
export function authorizationServer(parts: Parts): ProtocolEndpoint[] {
  const { store } = parts;

  /** An endpoint for clients, handled by the library. */
  const served = (
    options: Named & Pick<ProtocolMethod, 'responses'>,
    before?: Guard,
  ): ProtocolMethod => ({
    ...options,
    access,
    responses: { ...oauthErrors(404, 429, 500, 503), ...options.responses },
    showError: showOAuthError,
    handler: (ctx, api) =>
      atServer(ctx, api, parts, async (origin, provider) => {
        await before?.(ctx, api);
        // Clients that prefer HTML would get errors as pages.
        ctx.req.headers.accept = 'application/json';
        await serve(ctx, provider, origin);
      }),
  });
  /** An endpoint for browsers, handled by the library. */
  const shown = (named: Named, before?: Guard): ProtocolMethod => ({
    ...named,
    access,
    responses: PAGES,
    showError: showFault,
    handler: (ctx, api) =>
      withFaultsShown(ctx, () =>
        atServer(ctx, api, parts, async (origin, provider) => {
          await before?.(ctx, api);
          await serve(ctx, provider, origin);
          // If another person has signed in since the consent, the library responds with a form for a path that is disabled.
          if (ctx.status === 200) throw new PageFault('expired');
        }),
      ),
  });

  const mayAuthorize: Guard = async (ctx, api) => {
    if (!(await store.spend(`authorize ${api.clientOf(ctx)}`, AUTHORIZATIONS))) {
      throw rateLimited.error(undefined, { headers: { 'Retry-After': '60' } });
    }
    const mode = ctx.query['response_mode'];
    // For other modes the library responds with an inline script.
    if (mode !== undefined && mode !== 'query') throw new PageFault('badMode');
    const { nonce, ...others } = ctx.query;
    // AppAuth always sends a nonce; the library refuses it unless an ID token is requested.
    if (nonce !== undefined && !scopesIn(others['scope']).includes('openid')) ctx.query = others;
  };
  const mayRegister: Guard = async (ctx, api) => {
    limitJson(ctx.req);
    const isWithin = await store.spend(`register ${api.clientOf(ctx)}`, REGISTRATIONS);
    if (isWithin && (await store.documents.countDocuments({ kind: 'Client' })) < MAX_CLIENTS)
      return;
    throw rateLimited.error(undefined, { headers: { 'Retry-After': '3600' } });
  };

  const named = (operationId: string, summary: string): Named => ({ operationId, summary });
  const beginning = named('beginSignIn', 'Start an authorization');
  const resuming = named('resumeSignIn', 'Return to the client after the consent');
  const tokens = named(
    'getTokens',
    'Exchange a code or a refresh token for tokens (form, RFC 6749)',
  );
  const revoking = named('revokeToken', 'Revoke a token (form, RFC 7009)');
  const registering = named('registerProgram', 'Register a client (JSON, RFC 7591)');
  const keys = named('getKeys', 'Get the keys that verify ID tokens');
  return [
    open('/.well-known/oauth-authorization-server', {
      GET: served({ ...DISCOVERY, operationId: 'getServer', responses: DOCUMENT }),
    }),
    open('/.well-known/openid-configuration', {
      GET: served({ ...DISCOVERY, operationId: 'getOpenIdServer', responses: DOCUMENT }),
    }),
    open(PATHS.jwks, { GET: served({ ...keys, responses: DOCUMENT }) }),
    open(PATHS.token, {
      POST: served({ ...tokens, responses: { ...DOCUMENT, ...oauthErrors(400, 401) } }),
    }),
    open(PATHS.revocation, {
      POST: served({
        ...revoking,
        responses: { 200: { description: 'The token is revoked' }, ...oauthErrors(400, 401) },
      }),
    }),
    open(PATHS.registration, {
      POST: served(
        {
          ...registering,
          responses: {
            ...answers([201], { 'application/json': { type: 'object' } }),
            ...oauthErrors(400),
          },
        },
        mayRegister,
      ),
    }),
    {
      path: PATHS.authorization,
      prepare: loadLibrary,
      methods: { GET: shown(beginning, mayAuthorize) },
    },
    {
      path: `${PATHS.authorization}/{uid}`,
      methods: { GET: shown(resuming) },
    },
  ];
}

/** Limits the structure of a JSON body that the library will read. */
function limitJson(request: IncomingMessage): void {
  const limits = new JsonLimits();
  const read = request.iterator.bind(request);
  request.iterator = async function* limited(options): AsyncGenerator<Buffer, undefined> {
    // Nothing sets an encoding, so chunks are bytes.
    for await (const chunk of read(options) as AsyncIterable<Buffer>) {
      limits.read(chunk);
      yield chunk;
    }
  };
}

/** Lets the library handle a request. */
async function serve(ctx: Context, provider: Provider, origin: string): Promise<void> {
  ctx.cookies.secure = origin.startsWith('https:');
  // The library would trust the header Host.
  ctx.originalUrl = origin + ctx.path + ctx.search;
  // Koa middleware, typed by another copy of its types.
  const middleware = provider.middleware as unknown as Middleware[];
  await compose(middleware)(ctx, async () => {
    throw notFound.error();
  });
  const { status } = ctx;
  const body: unknown = ctx.body;
  if (status >= 300 && status < 400) {
    ctx.body = '';
    ctx.remove('Content-Type');
    ctx.status = 303;
  } else if (typeof body === 'object' && body !== null && !Buffer.isBuffer(body)) {
    ctx.body = JSON.stringify(body);
    ctx.type = 'application/json';
    ctx.status = status;
  }
}
