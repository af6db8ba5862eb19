import type * as OpenidClient from 'openid-client';

import { serviceUnavailable } from '../../../src/core/errors';
import { isLoopback } from '../../../src/core/settings/settings';
import type { Logger } from 'pino';
import { returnOf } from '../pages/fields';
import { PageFault } from '../pages/texts';
import type { BrowserRequest } from '../pages/browser-request';
import { boundedFetch } from './bounded-fetch';
import type { Issuer } from './settings';
import { type IssuerTokens, TOLERANCE_SECONDS } from './tokens';

export const SIGN_IN = '/settings/sign-in';
export const SIGNED_IN = '/settings/signed-in';
/** How long signing in at the issuer may take. */
const COOKIE_SECONDS = 600;
/** The issuer asks people to sign in again if they did so longer ago. */
const MAX_AGE_SECONDS = 3600;

interface Client {
  library: typeof OpenidClient;
  configuration: OpenidClient.Configuration;
}

/** Signs people in to the pages at the issuer: the authorization code flow with PKCE. */
export class IssuerSignIn {
  readonly #issuer: Issuer;
  readonly #tokens: IssuerTokens;
  readonly #log: Logger;
  #client: Promise<Client> | undefined;

  constructor(issuer: Issuer, tokens: IssuerTokens, log: Logger) {
    this.#issuer = issuer;
    this.#tokens = tokens;
    this.#log = log;
  }

  /**
   * Sends the browser to the issuer.
   *
   * @throws ApiError service_unavailable if the issuer cannot be reached
   */
  async begin(request: BrowserRequest): Promise<void> {
    const { library, configuration } = await this.#found();
    const [state, verifier] = [library.randomState(), library.randomPKCECodeVerifier()];
    const to = returnOf(request.ctx.query['return']) ?? '/settings';
    request.setCookie('sign-in', `${state} ${verifier} ${to}`, COOKIE_SECONDS);
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: request.origin + SIGNED_IN,
      scope: 'openid',
      state,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      max_age: String(MAX_AGE_SECONDS),
    });
    request.redirect(url.href);
  }

  /**
   * Signs in a person who returns from the issuer.
   *
   * @throws PageFault if this browser was not sent there, or the issuer refuses
   */
  async finish(request: BrowserRequest): Promise<void> {
    const [expectedState = '', pkceCodeVerifier = '', to] = request.cookie('sign-in').split(' ');
    request.setCookie('sign-in', '', 0);
    if (expectedState === '') throw new PageFault('notSignedIn');
    const { library, configuration } = await this.#found();
    const address = new URL(request.ctx.url, request.origin);
    const checks = { expectedState, pkceCodeVerifier, idTokenExpected: true };
    const claims = await library
      .authorizationCodeGrant(configuration, address, checks)
      .then((answer) => answer.claims())
      .catch((error: unknown) => {
        this.#log.debug({ err: error }, 'A sign-in at OIDC_ISSUER failed');
      });
    const account = claims && (await this.#tokens.openFor(claims));
    if (account === undefined) throw new PageFault('notSignedIn');
    await request.signIn(account, signedInAt(claims?.auth_time));
    request.redirect(returnOf(to) ?? '/settings');
  }

  #found(): Promise<Client> {
    this.#client ??= this.#discover().catch((error: unknown) => {
      this.#client = undefined;
      this.#log.warn({ err: error }, 'OIDC_ISSUER cannot be reached to sign people in');
      throw serviceUnavailable.error('The service where people sign in cannot be reached.');
    });
    return this.#client;
  }

  async #discover(): Promise<Client> {
    const { name, clientId = '', clientSecret } = this.#issuer;
    const library = await import('openid-client');
    const url = new URL(name);
    // oxlint-disable-next-line typescript/no-deprecated -- deprecated only to stand out; loopback has no TLS
    const execute = isLoopback(url) ? [library.allowInsecureRequests] : [];
    const customFetch: OpenidClient.CustomFetch = (address, { body, ...rest }) =>
      boundedFetch(address, { ...rest, body: body ?? null });
    const options = { execute, [library.customFetch]: customFetch };
    const auth = clientSecret === undefined ? library.None() : undefined;
    const configuration = await library.discovery(url, clientId, clientSecret, auth, options);
    return { library, configuration };
  }
}

/**
 * When a person signed in at the issuer, in seconds since 1970: long ago if it does not say so, or
 * names a moment to come.
 */
function signedInAt(authTime: unknown): number {
  const now = Math.floor(Date.now() / 1000);
  const isPast = typeof authTime === 'number' && authTime <= now + TOLERANCE_SECONDS;
  return isPast ? Math.min(authTime, now) : 0;
}
