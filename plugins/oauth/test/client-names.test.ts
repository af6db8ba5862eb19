import { hashOf } from '../../../src/core/identity';
import { startService, userOf } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import { ClientKey } from './support/assertion';
import { person, type Person } from './support/people';
import { CALLBACK, Phone } from './support/phone';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startService({});
  ada = await person(service);
});
afterAll(() => service.close());

function register(metadata: object) {
  const wanted = { redirect_uris: [CALLBACK], ...metadata };
  return service.anonymous.post('/oauth/register').send(wanted);
}

/** The consent page of a client. */
async function pageOf(phone: Phone): Promise<string> {
  await phone.browser.submit(await phone.browser.go('/sign-in'), { ...ada });
  return (await phone.browser.go(phone.asks())).text;
}

test.each([
  'Claude (claude.ai)',
  'chatgpt.com',
  'Sign in to Plants.Example',
  'www.bank.co.uk plants',
  'claude。ai',
  'claude．ai',
  'ｃｌａｕｄｅ．ａｉ',
  'claude․ai',
  'claude·ai',
  'clàude.ái',
  'claude.aı',
  'claude.ai-official',
  'клод.рф',
  'plants.xn--p1ai',
  'home.localhost',
  'https://localhost',
  'claudeꞏai',
  'claude⸱ai',
  'claude˙ai',
  'claudeᐧai',
  ' \u00a0',
  'claude\u200b.ai',
  'claude\u2060.ai',
  'claude[.]ai',
  'claude(.)ai',
  "claude'.'ai",
  'claude。[ai]',
  'claude⚫ai',
  'claude●ai',
  'claude⁃ai',
  'claude٠ai',
  'claudeꓸai',
  'клодꓸрф',
  'сlaude',
  '\u202eia.edualc',
  '\u2067claude\u2069',
  'claude\ufe0e.ai',
  'claude\u3164ai',
])('the name %j is not registered', async (name) => {
  const answer = bodyOf(await register({ client_name: name }).expect(400));
  expect(answer['error']).toBe('invalid_client_metadata');
});

test.each([
  'MCP CLI Proxy (0.1.15)',
  'Node.js client v2.0',
  'Dr. Fern, Ltd.',
  'Claude Code (plugin:plants:api) [dev]',
  'Zoë’s plants – home & garden™',
  '植物（ノート）2',
  'Été',
  'Мои растения: Plants',
  'نباتات',
])('the name %j is registered', async (name) => {
  await register({ client_name: name }).expect(201);
});

test.each([
  'mailto:ada@example.com',
  'TEL:123',
  'sms:123',
  'ftp://files.example/',
  'file:///tmp/x',
  'view-source:https://a.example/',
  'intent://scan/#',
  'ms-settings:privacy',
  'ms-word:ofe',
  'javascript:alert(1)',
  'data:text/html,x',
  'blob:https://a.example/x',
  'about:blank',
  'chrome://settings',
  'chrome-extension://abc/x',
  'moz-extension://abc/x',
  'safari-web-extension://abc/x',
  'isolated-app://abc/x',
  'android-app://abc/x',
  'android.resource://abc/x',
  'cifs://files.example/x',
  'ws://a.example/',
  'wss://a.example/',
  'http://a.example/callback',
  'itms-apps://x',
  'market://details',
  'facetime:ada',
  'web+plants:x',
  'xmpp:ada@a.example',
  'webcal://a.example/x',
])('a redirect to %s is not registered', async (uri) => {
  const { error } = bodyOf(await register({ redirect_uris: [CALLBACK, uri] }).expect(400));
  expect(error).toBe('invalid_redirect_uri');
});

test.each(['claude.ai:/cb', 'cursor://anysphere/cb', 'raycast://oauth', 'http://127.0.0.1/cb'])(
  'the page says of %s that it is an app on this device',
  async (uri) => {
    const { client_id: id } = bodyOf(await register({ redirect_uris: [uri] }).expect(201));
    const phone = new Phone(service, ada, String(id), uri);
    const text = await pageOf(phone);
    expect(text).toContain('<strong>an app on this device</strong>');
    expect(text).not.toContain('claude.ai');
    expect(text).not.toContain('class="verified"');
  },
);

test.each([
  'https://ferns.example/callback',
  'HTTPS://ferns.example/callback',
  'https:ferns.example/callback',
])('the page sets the host of the redirect %s apart', async (uri) => {
  const { client_id: id } = bodyOf(await register({ redirect_uris: [uri] }).expect(201));
  const text = await pageOf(new Phone(service, ada, String(id), uri));
  expect(text).toMatch(/class="verified">Verified: [^<]*<strong>ferns\.example<\/strong>/);
});

/** Stores a client as an earlier release did, which accepted more. */
async function storeEarlier({ clientId }: Phone, metadata: object): Promise<void> {
  const payload = { client_id: clientId, token_endpoint_auth_method: 'none', ...metadata };
  await service.app.database.connection
    .collection('oauthState')
    .updateOne({ _id: hashOf(clientId) as never }, { $set: { payload: JSON.stringify(payload) } });
}

test('a client of an earlier release with a foreign name signs in without that name', async () => {
  const phone = await Phone.register(service, ada);
  const redirects = [CALLBACK, 'mailto:ada@example.com'];
  await storeEarlier(phone, { client_name: 'Claude (claude.ai)', redirect_uris: redirects });
  const text = await pageOf(phone);
  expect(text).toContain('An unnamed app wants access');
  expect(text).not.toContain('claude.ai');
  await phone.tokens();
  expect((await phone.browser.go('/settings')).text).not.toContain('claude.ai');
});

test('a client of an earlier release with foreign redirects alone keeps its grants and gets no other', async () => {
  const phone = await Phone.register(service, ada);
  const { refresh_token: first } = await phone.tokens();
  await storeEarlier(phone, { client_name: 'Ferns', redirect_uris: ['ms-ferns:/cb'] });
  const renewed = bodyOf(await phone.refresh(first).expect(200));
  for (const redirect_uri of ['ms-ferns:/cb', CALLBACK, undefined]) {
    const { status, url, text } = await phone.browser.go(phone.asks({ redirect_uri }));
    expect([status, url.origin]).toEqual([400, service.url]);
    expect(text).toContain('<html');
  }
  const revoked = { token: renewed['refresh_token'], client_id: phone.clientId };
  await service.anonymous.post('/oauth/revoke').type('form').send(revoked).expect(200);
  const user = userOf(service.url, ada.name, String(renewed['access_token']));
  await user.get('/api/account').expect(401);
});

test('null and empty optionals of a registration count as left out', async () => {
  const empty = {
    client_name: '',
    client_uri: null,
    logo_uri: '',
    contacts: [],
    grant_types: [],
    response_types: null,
    token_endpoint_auth_method: '',
    jwks_uri: '',
    jwks: null,
    scope: '',
    software_id: null,
  };
  const made = bodyOf(await register(empty).expect(201));
  expect(made).toMatchObject({
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  });
  await new Phone(service, ada, String(made['client_id'])).tokens();
  await register({ redirect_uris: [] }).expect(400);
});

test('an assertion expires within five minutes, and is for the issuer alone', async () => {
  const key = await ClientKey.make();
  const metadata = {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [key.published] },
  };
  const { client_id: id } = bodyOf(await register(metadata).expect(201));
  const now = Math.floor(Date.now() / 1000);
  const errorOf = async (claims: object) => {
    const assertion = await key.assert(String(id), service.url, claims);
    const form = { grant_type: 'refresh_token', refresh_token: 'none', ...assertion };
    return bodyOf(await service.anonymous.post('/oauth/token').type('form').send(form))['error'];
  };
  // The client is authenticated, and its refresh token is not known.
  expect(await errorOf({})).toBe('invalid_grant');
  expect(await errorOf({ aud: [service.url] })).toBe('invalid_grant');
  for (const claims of [
    { exp: now + 400 },
    { exp: 6_942_240_000 },
    { aud: `${service.url}/oauth/token` },
    { aud: [service.url, 'https://other.example'] },
  ]) {
    expect(await errorOf(claims)).toBe('invalid_client');
  }
  const { connection } = service.app.database;
  const late = { kind: 'ReplayDetection', expiresAt: { $gt: new Date((now + 600) * 1000) } };
  expect(await connection.collection('oauthState').countDocuments(late)).toBe(0);
});
