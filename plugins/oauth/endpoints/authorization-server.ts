import type { Context, Middleware } from 'koa';
import compose from 'koa-compose';
import type Provider from 'oidc-provider';

import { notFound, rateLimited } from '../../../src/core/errors';
import type {
  ProtocolApi,
  ProtocolEndpoint,
  ProtocolMethod,
} from '../../../src/plugins/protocol-endpoint';
import { PageFault } from '../pages/texts';
import { PATHS } from '../server/configuration';
import { scopesIn } from '../state/store';
import {
  access,
  jsonAnswers,
  type Named,
  open,
  PAGES,
  type Parts,
  serverFor,
  withFaultsShown,
} from './method';

/** How often an address may begin what keeps something, whoever it is. */
const BEGINNINGS = { most: 60, seconds: 60 };
const REGISTRATIONS = { most: 120, seconds: 3600 };
/** How many programs may be registered at once; they are forgotten when unused. */
const MAX_CLIENTS = 20_000;

const DISCOVERY = { summary: 'What the authorization server can do (RFC 8414)' };

/** Refuses a request before it is looked at. */
type Guard = (ctx: Context, api: ProtocolApi) => Promise<void>;

/** What programs and browsers ask of the authorization server. */
export function authorizationServer(parts: Parts): ProtocolEndpoint[] {
  const { store, prepare } = parts;

  /** What the library answers to programs at this path. */
  const served = (
    options: Named & Pick<ProtocolMethod, 'responses'>,
    before?: Guard,
  ): ProtocolMethod => ({
    access,
    errors: [notFound],
    ...options,
    handler: async (ctx, api) => {
      const { origin, provider } = await serverFor(ctx, parts);
      await before?.(ctx, api);
      // Whoever prefers HTML would get errors as pages.
      ctx.req.headers.accept = 'application/json';
      await serve(ctx, provider, origin);
    },
  });
  /** What the library answers to browsers at this path. */
  const shown = (named: Named, before?: Guard): ProtocolMethod => ({
    ...{ ...named, access, responses: PAGES, errors: [notFound] },
    handler: (ctx, api) =>
      withFaultsShown(ctx, async () => {
        const { origin, provider } = await serverFor(ctx, parts);
        await before?.(ctx, api);
        await serve(ctx, provider, origin);
        // The library's page for a person who is not the one that consented posts to a path that is off.
        if (ctx.status === 200) throw new PageFault('expired');
      }),
  });

  const mayBegin: Guard = async (ctx, api) => {
    if (!(await store.spend(`begin ${api.clientOf(ctx)}`, BEGINNINGS))) {
      throw rateLimited.error(undefined, { headers: { 'Retry-After': '60' } });
    }
    const mode = ctx.query['response_mode'];
    // The library would answer others with a script of its own.
    if (mode !== undefined && mode !== 'query') throw new PageFault('badMode');
    const { nonce, ...others } = ctx.query;
    // AppAuth sends one whatever it asks for; the library refuses it where no ID token is asked for.
    if (nonce !== undefined && !scopesIn(others['scope']).includes('openid')) ctx.query = others;
  };
  const mayRegister: Guard = async (ctx, api) => {
    const isWithin = await store.spend(`register ${api.clientOf(ctx)}`, REGISTRATIONS);
    if (isWithin && (await store.documents.countDocuments({ kind: 'Client' })) < MAX_CLIENTS)
      return;
    throw rateLimited.error(undefined, { headers: { 'Retry-After': '3600' } });
  };

  const named = (operationId: string, summary: string): Named => ({ operationId, summary });
  const beginning = named('beginSignIn', 'Begin to let a program have access');
  const resuming = named('resumeSignIn', 'Send the browser back to the program');
  const tokens = named('getTokens', 'Get tokens for a code or a refresh token (form, RFC 6749)');
  const revoking = named('revokeToken', 'Revoke a token of a program (form, RFC 7009)');
  const registering = named('registerProgram', 'Register a program (JSON, RFC 7591)');
  const keys = named('getKeys', 'The keys by which ID tokens are signed');
  return [
    open('/.well-known/oauth-authorization-server', {
      GET: served({ ...DISCOVERY, operationId: 'getServer', responses: jsonAnswers(200) }),
    }),
    open('/.well-known/openid-configuration', {
      GET: served({ ...DISCOVERY, operationId: 'getOpenIdServer', responses: jsonAnswers(200) }),
    }),
    open(PATHS.jwks, { GET: served({ ...keys, responses: jsonAnswers(200) }) }),
    open(PATHS.token, { POST: served({ ...tokens, responses: jsonAnswers(200) }) }),
    open(PATHS.revocation, {
      POST: served({
        ...revoking,
        responses: { ...jsonAnswers(), 200: { description: 'It is not good any more' } },
      }),
    }),
    open(PATHS.registration, {
      POST: served({ ...registering, responses: jsonAnswers(201) }, mayRegister),
    }),
    {
      path: PATHS.authorization,
      prepare,
      methods: { GET: shown(beginning, mayBegin) },
    },
    {
      path: `${PATHS.authorization}/{uid}`,
      methods: { GET: shown(resuming) },
    },
  ];
}

/** Has the library answer a request. */
async function serve(ctx: Context, provider: Provider, origin: string): Promise<void> {
  ctx.cookies.secure = origin.startsWith('https:');
  // The same Koa's own middleware, whose types are of another copy of them.
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
