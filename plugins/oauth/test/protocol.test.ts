import { randomUUID } from 'node:crypto';

import { startService, userOf } from '../../../test/support/program';
import { resetClock, setClock } from '../../../test/support/clock';
import type { TestService } from '../../../test/support/service';
import { bodyOf, expectError } from '../../../test/support/shapes';
import { Browser } from './support/browser';
import { setSpent } from './support/budgets';
import { inviteTo, PASSWORD, person, type Person } from './support/people';
import { CALLBACK, Phone, type Tokens } from './support/phone';
import { authorize } from './support/program';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startService();
  ada = await person(service);
});
afterEach(() => {
  resetClock();
});
afterAll(() => service.close());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const register = (metadata: object = {}): Promise<Phone> => Phone.register(service, ada, metadata);

function status(token: string) {
  return userOf(service.url, ada.name, token).get('/api/plants');
}

test('a phone with a private scheme gets an access token that the API accepts', async () => {
  const phone = await register();
  const { url } = await phone.allowed();
  expect(url.protocol).toBe('com.example.ferns:');
  expect(url.searchParams.get('state')).toBe('as it was');
  expect(url.searchParams.get('iss')).toBe(service.url);
  const answer = await phone.exchange(url.searchParams.get('code') ?? '').expect(200);
  const { access_token: token, expires_in: seconds } = bodyOf(answer);
  expect(seconds).toBe(3600);
  await status(String(token)).expect(200);
});

test('stored secrets cannot be used to authenticate', async () => {
  const phone = await register();
  const code = await phone.code();
  const tokens = bodyOf(await phone.exchange(code).expect(200)) as unknown as Tokens;
  const { connection } = service.app.database;
  const stored = JSON.stringify(await connection.collection('oauthState').find().toArray());
  const session = phone.browser.cookie('session') ?? 'none';
  for (const secret of [code, tokens.access_token, tokens.refresh_token, session]) {
    expect(stored).not.toContain(secret);
  }
  expect(JSON.stringify(await connection.collection('credentials').find().toArray())).not.toContain(
    ada.password,
  );
});

test('a token has only the scopes that the person left selected', async () => {
  const phone = await register();
  const { access_token: token, scope } = await phone.tokens({}, ['plants:read']);
  expect(scope).toBe('plants:read');
  const user = userOf(service.url, ada.name, token);
  await user.get('/api/plants').expect(200);
  expectError(await user.post('/api/plants', { name: 'Fern' }), 403, 'insufficient_scope');
});

test('deselecting all scopes, or denying, gives no access', async () => {
  const phone = await register();
  const { url } = await phone.allowed({}, []);
  expect(url.searchParams.get('error')).toBe('access_denied');
  const page = await phone.browser.go(phone.asks());
  const refused = await phone.browser.submit(page, { answer: 'refuse' });
  expect(refused.url.searchParams.get('error')).toBe('access_denied');
});

test('an expired token is refreshed, and each refresh token works once', async () => {
  const phone = await register();
  const first = await phone.tokens();
  setClock(Date.now() + HOUR_MS + 1000);
  expectError(await status(first.access_token), 401, 'invalid_token');
  const second = bodyOf(await phone.refresh(first.refresh_token).expect(200)) as unknown as Tokens;
  await status(second.access_token).expect(200);
  setClock(Date.now() + 60_000);
  const reused = await phone.refresh(first.refresh_token).expect(400);
  expect(bodyOf(reused)['error']).toBe('invalid_grant');
  expectError(await status(second.access_token), 401, 'invalid_token');
  await phone.refresh(second.refresh_token).expect(400);
});

test('a refresh whose response was lost may be repeated for 30 seconds', async () => {
  const phone = await register();
  const { refresh_token: token } = await phone.tokens();
  await phone.refresh(token).expect(200);
  setClock(Date.now() + 20_000);
  const again = bodyOf(await phone.refresh(token).expect(200)) as unknown as Tokens;
  await status(again.access_token).expect(200);
});

test('repeating a refresh after its new token was used ends the grant', async () => {
  const phone = await register();
  const first = await phone.tokens();
  const second = bodyOf(await phone.refresh(first.refresh_token)) as unknown as Tokens;
  const third = bodyOf(await phone.refresh(second.refresh_token).expect(200)) as unknown as Tokens;
  await phone.refresh(first.refresh_token).expect(400);
  expectError(await status(third.access_token), 401, 'invalid_token');
  await phone.refresh(third.refresh_token).expect(400);
});

test('refreshing works for years, and stops after 90 days without use', async () => {
  const phone = await register();
  let { refresh_token: token } = await phone.tokens();
  for (let times = 0; times < 6; times += 1) {
    setClock(Date.now() + 80 * DAY_MS);
    ({ refresh_token: token } = bodyOf(
      await phone.refresh(token).expect(200),
    ) as unknown as Tokens);
  }
  setClock(Date.now() + 92 * DAY_MS);
  const { error } = bodyOf(await phone.refresh(token));
  expect(['invalid_grant', 'invalid_client']).toContain(error);
});

test('a code that is used twice revokes its tokens', async () => {
  const phone = await register();
  const code = await phone.code();
  const tokens = bodyOf(await phone.exchange(code).expect(200)) as unknown as Tokens;
  await phone.exchange(code).expect(400);
  expectError(await status(tokens.access_token), 401, 'invalid_token');
  await phone.refresh(tokens.refresh_token).expect(400);
});

test('a code that is used several times at once leaves no valid token', async () => {
  const phone = await register();
  for (const times of [2, 2, 2, 3]) {
    const code = await phone.code();
    const sent = Array.from({ length: times }, () => phone.exchange(code));
    const answers = await Promise.all(sent);
    const given = answers.filter((answer) => answer.status === 200).map((answer) => bodyOf(answer));
    expect(given.length).toBeLessThan(2);
    for (const { access_token: token } of given) {
      expectError(await status(String(token)), 401, 'invalid_token');
    }
  }
});

test('revoking a refresh token revokes its access tokens from the next request on', async () => {
  const phone = await register();
  const { access_token: token, refresh_token: refresh } = await phone.tokens();
  await status(token).expect(200);
  const revoke = (given: string) =>
    service.anonymous
      .post('/oauth/revoke')
      .type('form')
      .send({ client_id: phone.clientId, token: given });
  await revoke(refresh).expect(200);
  expectError(await status(token), 401, 'invalid_token');
  await phone.refresh(refresh).expect(400);
});

test('the tool endpoint responds to an invalid access token with 401, so that clients refresh it', async () => {
  for (const token of [`tnd_oat_${'a'.repeat(43)}`, 'tnd_oat_cut']) {
    const answer = await userOf(service.url, ada.name, token).post('/api/mcp', {}).expect(401);
    expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
    expect(answer.headers['www-authenticate']).toContain(
      `resource_metadata="${service.url}/.well-known/oauth-protected-resource/api/mcp"`,
    );
  }
});

test('a token for the tools is valid for nothing else', async () => {
  const phone = await register();
  const resource = `${service.url}/api/mcp`;
  const { access_token: token } = await phone.tokens({ resource });
  const user = userOf(service.url, ada.name, token);
  expectError(
    await user.get('/api/plants'),
    401,
    'invalid_token',
    /only valid for the tool endpoint/,
  );
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  await user.post('/api/mcp', call).expect(200);
});

test.each([
  ['another host', { redirect_uri: 'https://evil.example/callback' }],
  ['another path', { redirect_uri: 'com.example.ferns:/other' }],
  ['an unknown client', { client_id: 'nobody' }],
  ['a form as the response mode', { response_mode: 'form_post' }],
])('%s is shown to the person, and never sent there', async (_what, changes) => {
  const phone = await register();
  const page = await phone.browser.go(phone.asks(changes));
  expect(page.url.origin).toBe(service.url);
  expect(page.status).toBe(400);
  expect(page.text).toContain('role="alert"');
});

test.each([
  [
    'no challenge',
    { code_challenge: undefined, code_challenge_method: undefined },
    'invalid_request',
  ],
  ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['a token at once', { response_type: 'token' }, 'invalid_request'],
  ['a resource that is not ours', { resource: 'https://evil.example/' }, 'invalid_target'],
])('%s is refused', async (_what, changes, error) => {
  const phone = await register();
  const { url } = await phone.browser.go(phone.asks(changes));
  expect(url.protocol).toBe('com.example.ferns:');
  // Errors of the implicit flow are in the fragment.
  const inFragment = new URLSearchParams(url.hash.slice(1)).get('error');
  expect(url.searchParams.get('error') ?? inFragment).toBe(error);
});

test('a code needs its verifier, redirect URI and client', async () => {
  const phone = await register();
  const other = await register();
  const code = await phone.code();
  await phone.exchange(code, { code_verifier: 'x'.repeat(43) }).expect(400);
  await phone.exchange(code, { redirect_uri: 'com.example.ferns:/other' }).expect(400);
  await phone.exchange(code, { client_id: other.clientId }).expect(400);
  await phone.exchange(code).expect(200);
});

test.each([
  [{ redirect_uris: [`${CALLBACK}#part`] }],
  [{ redirect_uris: ['http://evil.example/callback'] }],
  [{ redirect_uris: ['javascript:alert(1)'] }],
  [{ redirect_uris: [] }],
  [{ client_name: 'x'.repeat(101) }],
  [{ redirect_uris: Array.from({ length: 21 }, (_, each) => `${CALLBACK}/${each}`) }],
])('%j is not registered', async (metadata) => {
  const wanted = { redirect_uris: [CALLBACK], ...metadata };
  const answer = await service.anonymous.post('/oauth/register').send(wanted).expect(400);
  expect(bodyOf(answer)['error_description']).toEqual(expect.any(String));
});

test('clients are registered with the supported part of their metadata', async () => {
  const answer = await service.anonymous
    .post('/oauth/register')
    .send({
      redirect_uris: ['http://127.0.0.1/callback', 'https://app.example.com/callback'],
      grant_types: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      token_endpoint_auth_method: 'client_secret_post',
      application_type: 'web',
      scope: 'plants:read plants:write mcp:tools',
    })
    .expect(201);
  expect(bodyOf(answer)).toMatchObject({
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  });
  expect(bodyOf(answer)).not.toHaveProperty('client_secret');
});

test('a loopback redirect URI may have any port', async () => {
  const phone = await register({ redirect_uris: ['http://127.0.0.1/callback'] });
  const { url } = await phone.allowed({ redirect_uri: 'http://127.0.0.1:50123/callback' });
  expect(url.port).toBe('50123');
  expect(url.searchParams.get('code')).not.toBeNull();
});

test('metadata names this origin, whatever the header Host says', async () => {
  for (const path of ['oauth-authorization-server', 'openid-configuration']) {
    const { issuer, ...rest } = bodyOf(
      await service.anonymous.get(`/.well-known/${path}`).expect(200),
    );
    expect(issuer).toBe(service.url);
    expect(rest['scopes_supported']).toEqual(
      expect.arrayContaining(['openid', 'offline_access', 'plants:read']),
    );
    expect(rest).toMatchObject({
      token_endpoint: `${service.url}/oauth/token`,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
    });
    await service.anonymous.get(`/.well-known/${path}`).set('Host', 'evil.example').expect(404);
  }
});

test('scripts of any origin may register, get tokens and read metadata', async () => {
  for (const path of ['/oauth/token', '/oauth/register', '/.well-known/oauth-protected-resource']) {
    const asked = await service.anonymous
      .options(path)
      .set({ Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' })
      .expect(204);
    expect(asked.headers['access-control-allow-origin']).toBe('*');
    await service.anonymous.options(path).expect(204);
  }
  const refused = await service.anonymous
    .post('/oauth/token')
    .set('Origin', 'https://app.example')
    .type('form')
    .send({ grant_type: 'refresh_token' });
  expect(refused.headers['access-control-allow-origin']).toBe('*');
});

test('deleting an account revokes its authorized apps', async () => {
  const { name, password } = await person(service);
  const phone = await register();
  const page = await authorize(phone.browser, phone.asks({ scope: 'account plants:read' }), {
    name,
    password,
  });
  const code = page.url.searchParams.get('code') ?? '';
  const tokens = bodyOf(await phone.exchange(code).expect(200)) as unknown as Tokens;
  const user = userOf(service.url, name, tokens.access_token);
  const exported = bodyOf(await user.get('/api/account/export').expect(200));
  expect(exported['records']).toMatchObject({ programs: [{ name: 'Ferns' }] });
  await user.delete('/api/account').send({ confirm: name }).expect(200);
  expectError(await user.get('/api/plants'), 401, 'invalid_token');
  await phone.refresh(tokens.refresh_token).expect(400);
  const { connection } = service.app.database;
  expect(await connection.collection('oauthState').countDocuments({ userId: name })).toBe(0);
  expect(await connection.collection('credentials').countDocuments({ _id: name as never })).toBe(0);
});

test('a developer token that an app creates may outlive its access token', async () => {
  const phone = await register();
  const { access_token: token } = await phone.tokens({ scope: 'account plants:read' });
  const wanted = { name: 'Script', scopes: ['plants:read'], expiresIn: 86_400 };
  const made = await userOf(service.url, ada.name, token).post('/api/account/tokens', wanted);
  expect(Date.parse(String(bodyOf(made)['expiresAt']))).toBeGreaterThan(Date.now() + 23 * HOUR_MS);
});

test('a metadata document at a private address, or that does not exist, is refused', async () => {
  const phone = await register();
  for (const client_id of ['https://127.0.0.1:1/program', 'https://localhost/program.json']) {
    const page = await phone.browser.go(phone.asks({ client_id }));
    expect([page.status, page.url.origin]).toEqual([400, service.url]);
  }
});

test('an address may register 120 clients an hour, and start 300 authorizations a minute', async () => {
  const limited = await startService({});
  // At the start of a window of the budgets, in the future: MongoDB deletes expired documents by its own
  // clock.
  const start = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
  setClock(start);
  const register = () =>
    limited.anonymous.post('/oauth/register').send({ redirect_uris: [CALLBACK] });
  await register().expect(201);
  await setSpent(limited, 119, start);
  await register().expect(201);
  await register().expect(429);
  const begin = () => limited.anonymous.get('/oauth/authorize');
  setClock(start + HOUR_MS);
  await begin().expect(400);
  await setSpent(limited, 299, start + HOUR_MS);
  await begin().expect(400);
  const refused = await begin().expect(429);
  expect(refused.get('Retry-After')).toBe('60');
  expect(refused.text).toContain('Try again in a minute.');
  await limited.close();
});

test('under an https origin cookies have the prefix __Host-, and metadata names the origin', async () => {
  const origin = 'https://plants.example';
  const secure = await startService({ env: { PUBLIC_URL: origin } });
  const page = await secure.anonymous.get('/sign-in').expect(200);
  expect(page.get('Set-Cookie')?.join()).toMatch(/^__Host-form=.*; path=\/;.*secure; httponly/);
  const { issuer } = bodyOf(
    await secure.anonymous.get('/.well-known/oauth-authorization-server').expect(200),
  );
  expect(issuer).toBe(origin);
  const registered = await secure.anonymous
    .post('/oauth/register')
    .send({ redirect_uris: [CALLBACK] })
    .expect(201);
  const begun = await secure.anonymous.get('/oauth/authorize').query({
    client_id: bodyOf(registered)['client_id'],
    redirect_uri: CALLBACK,
    response_type: 'code',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  expect(begun.status).toBe(303);
  const browser = new Browser(secure.url);
  const invited = await browser.go(await inviteTo(secure, `fern-${randomUUID()}`));
  const signedIn = await browser.submit(invited, { password: PASSWORD });
  const cookies = [page, begun]
    .flatMap((answer) => answer.get('Set-Cookie') ?? [])
    .concat(signedIn.headers.getSetCookie());
  expect(new Set(cookies.map((each) => each.split('=')[0]))).toEqual(
    new Set([
      '__Host-form',
      '__Secure-interaction',
      '__Secure-resume',
      '__Host-session',
      '__Host-device',
    ]),
  );
  for (const cookie of cookies) {
    const attributes = cookie.toLowerCase().split('; ');
    expect(attributes).toEqual(expect.arrayContaining(['secure', 'httponly', 'samesite=lax']));
    expect(cookie).not.toMatch(/domain=/i);
    if (cookie.startsWith('__Host-')) expect(attributes).toContain('path=/');
  }
  // It is its own host: assistants name it.
  await secure.anonymous.post('/api/mcp').set('Host', 'plants.example').expect(401);
  await secure.close();
});
