import * as oauth from 'oauth4webapi';

import { resetClock, setClock } from '../../../test/support/clock';
import { startService, userOf } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import { Browser } from './support/browser';
import { person } from './support/people';
import { Phone } from './support/phone';
import { authorize } from './support/program';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(resetClock);
afterAll(() => service.close());

const CALLBACK = 'com.example.ferns:/callback';
// oxlint-disable-next-line typescript/no-deprecated -- deprecated only to stand out; loopback has no TLS
const insecure = { [oauth.allowInsecureRequests]: true };

/** A phone that uses a certified library: discovery, registration, authorization. */
async function letInPhone() {
  const issuer = new URL(service.url);
  const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  const server = await oauth.processDiscoveryResponse(issuer, discovered);
  const metadata = { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' };
  const registered = await oauth.dynamicClientRegistrationRequest(server, metadata, insecure);
  const client = await oauth.processDynamicClientRegistrationResponse(registered);
  const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
  const url = new URL(server.authorization_endpoint ?? '');
  url.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid plants:read offline_access',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();
  const page = await authorize(new Browser(service.url), url, await person(service));
  const sent = oauth.validateAuthResponse(server, client, page.url, state);
  const none = oauth.None();
  const answered = await oauth.authorizationCodeGrantRequest(
    ...([server, client, none, sent, CALLBACK, verifier] as const),
    insecure,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answered);
  return {
    tokens,
    refresh: async (token: string | undefined, isLost = false) => {
      const options = { ...insecure, [oauth.customFetch]: isLost ? lost : fetch };
      const given = [server, client, none, token ?? ''] as const;
      const answer = await oauth.refreshTokenGrantRequest(...given, options);
      return oauth.processRefreshTokenResponse(server, client, answer);
    },
  };
}

/** Sends a request whose response is lost. */
async function lost(...request: Parameters<typeof fetch>): Promise<Response> {
  await (await fetch(...request)).text();
  throw new TypeError('The connection was lost.');
}

function status(token: string) {
  return userOf(service.url, '', token).get('/api/plants');
}

test('a nonce without an ID token, as AppAuth sends it, is accepted', async () => {
  const ada = await person(service);
  const phone = await Phone.register(service, ada);
  const tokens = await phone.tokens({ nonce: 'once', scope: 'plants:read offline_access' });
  expect(tokens.scope).toBe('plants:read');
  expect(tokens).not.toHaveProperty('id_token');
});

test('a phone with a private scheme signs in, and repeats a refresh whose response was lost', async () => {
  const { tokens, refresh } = await letInPhone();
  await status(tokens.access_token).expect(200);
  await expect(refresh(tokens.refresh_token, true)).rejects.toThrow('lost');
  const renewed = await refresh(tokens.refresh_token);
  await status(renewed.access_token).expect(200);
  const again = await refresh(renewed.refresh_token);
  await status(again.access_token).expect(200);
  expect(again.refresh_token).not.toBe(tokens.refresh_token);
});

describe('in a browser in which somebody is signed in, prompt=login', () => {
  test.each([0, 1, 3600])('lets another person sign in, %i s later', async (seconds) => {
    const [ada, ben] = [await person(service), await person(service)];
    const phone = await Phone.register(service, ada);
    const start = Date.now();
    setClock(start);
    await phone.tokens();
    setClock(start + seconds * 1000);
    let page = await phone.browser.go(phone.asks({ prompt: 'login' }));
    expect(page.url.pathname).toBe('/sign-in');
    page = await phone.browser.submit(page, { ...ben });
    expect(page.text).toContain(ben.name);
    const { url } = await phone.browser.submit(page, { answer: 'allow' });
    const answer = await phone.exchange(url.searchParams.get('code') ?? '').expect(200);
    const { access_token } = bodyOf(answer);
    const account = await userOf(service.url, '', String(access_token)).get('/api/account');
    expect(bodyOf(account)['userId']).toBe(ben.name);
  });

  test('is not answered by going back instead of signing in', async () => {
    const phone = await Phone.register(service, await person(service));
    const start = Date.now();
    setClock(start);
    await phone.tokens();
    setClock(start + 1000);
    const asked = await phone.browser.go(phone.asks({ prompt: 'login' }), { follow: false });
    for (let visits = 0; visits < 3; visits += 1) {
      expect((await phone.browser.go(asked.url)).url.pathname).toBe('/sign-in');
    }
  });
});
