import { hashOf } from '../../../src/core/identity';
import { startService, userOf } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { bodyOf, expectError } from '../../../test/support/shapes';
import { person, type Person } from './support/people';
import { CALLBACK, Phone, type Tokens } from './support/phone';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startService();
  ada = await person(service);
});
afterAll(() => service.close());

const register = (metadata: object = {}): Promise<Phone> => Phone.register(service, ada, metadata);

function status(token: string) {
  return userOf(service.url, '', token).get('/api/plants');
}

function stored(filter: object): Promise<number> {
  return service.app.database.connection.collection('oauthState').countDocuments(filter);
}

test('a redirect URI with a fragment does not match', async () => {
  const phone = await register();
  const page = await phone.browser.go(phone.asks({ redirect_uri: `${CALLBACK}#part` }));
  expect([page.status, page.url.origin]).toEqual([400, service.url]);
  expect(page.text).toContain('was refused: redirect_uri did not match');
});

test('no token is issued for a resource that the person did not consent to', async () => {
  const phone = await register();
  const tools = `${service.url}/api/mcp`;
  for (const resource of [service.url, 'https://evil.example/']) {
    const code = await phone.code({ resource: tools });
    expect(bodyOf(await phone.exchange(code, { resource }).expect(400))['error']).toBe(
      'invalid_target',
    );
  }
  const { refresh_token: token } = await phone.tokens({ resource: tools });
  for (const resource of [service.url, 'https://evil.example/']) {
    const sent = { grant_type: 'refresh_token', refresh_token: token, resource };
    expect(bodyOf(await phone.send(sent).expect(400))['error']).toBe('invalid_target');
  }
  await phone.refresh(token).expect(200);
});

test('no token has more scopes than the person allowed', async () => {
  const phone = await register();
  const asked = { scope: 'plants:read plants:write accounts:manage offline_access' };
  const page = await phone.browser.submit(await phone.browser.go('/sign-in'), { ...ada });
  expect(page.status).toBe(200);
  expect((await phone.browser.go(phone.asks(asked))).text).not.toContain('accounts:manage');
  const tokens = await phone.tokens(asked, ['plants:read', 'accounts:manage']);
  expect(tokens.scope.split(' ')).not.toContain('accounts:manage');
  expect(tokens.scope.split(' ')).not.toContain('plants:write');
  const scope = 'plants:read plants:write accounts:manage';
  const sent = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, scope };
  expect(bodyOf(await phone.send(sent).expect(400))['error']).toBe('invalid_scope');
  expectError(
    await userOf(service.url, '', tokens.access_token).get('/api/accounts'),
    403,
    'insufficient_scope',
  );
});

test("a client can neither use nor revoke another's tokens", async () => {
  const [phone, thief] = [await register(), await register()];
  const { access_token: token, refresh_token: refresh } = await phone.tokens();
  await thief.refresh(refresh).expect(400);
  for (const stolen of [token, refresh]) {
    const form = { client_id: thief.clientId, token: stolen };
    await service.anonymous.post('/oauth/revoke').type('form').send(form);
  }
  await status(token).expect(200);
  await phone.refresh(refresh).expect(200);
});

test.each([
  ['a name with a bidirectional override', { client_name: 'a\u202eb' }],
  ['a name with NUL', { client_name: 'a\u0000b' }],
  ['half a character', { client_name: 'a\ud800' }],
  ['50,000 characters', { software_id: 'x'.repeat(50_000) }],
  ['letters that look like others', { client_name: '\u0410pple' }],
  ['keys at an address without TLS', { jwks_uri: 'http://app.example/keys' }],
  ['a long redirect', { redirect_uris: [`https://a.example/${'x'.repeat(10_000)}`] }],
])('a client with %s is not registered', async (_what, metadata) => {
  const wanted = { redirect_uris: [CALLBACK], ...metadata };
  const answer = await service.anonymous.post('/oauth/register').send(wanted).expect(400);
  expect(bodyOf(answer)['error']).toBe('invalid_client_metadata');
});

test("a client cannot register under the id of an operator's client", async () => {
  const wanted = {
    redirect_uris: [CALLBACK],
    client_id: 'operator.mine',
    client_secret: 'x'.repeat(43),
    token_endpoint_auth_method: 'client_secret_basic',
  };
  const made = bodyOf(await service.anonymous.post('/oauth/register').send(wanted).expect(201));
  expect(made['client_id']).not.toMatch(/^operator\./);
  expect(made).not.toHaveProperty('client_secret');
});

test('no client is registered beyond 20,000', async () => {
  const own = await startService({});
  const expiresAt = new Date(Date.now() + 86_400_000);
  const clients = Array.from({ length: 20_000 }, (_, each) => ({
    _id: hashOf(`client ${each}`) as never,
    kind: 'Client',
    payload: '{}',
    createdAt: new Date(),
    expiresAt,
  }));
  await own.app.database.connection.collection('oauthState').insertMany(clients);
  const refused = await own.anonymous.post('/oauth/register').send({ redirect_uris: [CALLBACK] });
  expect([refused.status, bodyOf(refused)['code']]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  await own.close();
});

test('deleting an account during a refresh leaves no token', async () => {
  for (let times = 0; times < 5; times += 1) {
    const somebody = await person(service);
    const phone = await Phone.register(service, somebody);
    const tokens = await phone.tokens({ scope: 'account plants:read' });
    const user = userOf(service.url, somebody.name, tokens.access_token);
    const [refreshed] = await Promise.all([
      phone.refresh(tokens.refresh_token),
      user.delete('/api/account').send({ confirm: somebody.name }).expect(200),
    ]);
    const { access_token: token } = bodyOf(refreshed) as unknown as Partial<Tokens>;
    if (token !== undefined) expectError(await status(token), 401, 'invalid_token');
    else expect(refreshed.status).toBe(400);
    expectError(await status(tokens.access_token), 401, 'invalid_token');
    await phone.refresh(tokens.refresh_token).expect(400);
    expect(await stored({ userId: somebody.name })).toBe(0);
  }
});

test('clients get JSON, whatever they accept', async () => {
  for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/register']) {
    const answer = await service.anonymous.post(path).set('Accept', 'text/html, */*;q=0.1');
    expect(answer.type).toBe('application/json');
    expect(bodyOf(answer)['error']).toEqual(expect.any(String));
  }
});

test('a consent form that is sent twice authorizes the app once', async () => {
  const somebody = await person(service);
  const phone = await Phone.register(service, somebody);
  await phone.browser.submit(await phone.browser.go('/sign-in'), { ...somebody });
  const page = await phone.browser.go(phone.asks());
  const answers = await Promise.all(
    [1, 2, 3].map(() => phone.browser.submit(page, { answer: 'allow' })),
  );
  expect(answers.filter(({ url }) => url.searchParams.has('code')).length).toBeGreaterThan(0);
  expect(answers.map(({ status }) => status).filter((each) => ![0, 400].includes(each))).toEqual(
    [],
  );
  const { text } = await phone.browser.go('/settings');
  expect(text.match(/value="revokeApp"/g)).toHaveLength(1);
});

test('a consent is void once another person has signed in', async () => {
  const [one, other] = [await person(service), await person(service)];
  const phone = await Phone.register(service, one);
  const { browser } = phone;
  const page = await browser.submit(await browser.go(phone.asks()), { ...one });
  const allowed = await browser.submit(page, { answer: 'allow' }, { follow: false });
  await browser.submit(await browser.go('/sign-in?return=/settings'), { ...other });
  const resumed = await browser.go(allowed.url);
  expect([resumed.status, resumed.url.origin]).toEqual([400, service.url]);
  expect(resumed.text).not.toContain('<script');
});
