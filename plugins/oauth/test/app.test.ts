import * as oauth from 'oauth4webapi';

import { startService, userOf } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { Browser } from './support/browser';
import { person } from './support/people';
import { Phone } from './support/phone';
import { authorize } from './support/program';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
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
