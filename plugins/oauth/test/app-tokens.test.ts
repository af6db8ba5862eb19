import { resetClock, setClock } from '../../../test/support/clock';
import { accountsPlugin, oauthPlugin, startService, userOf } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import { person, type Person } from './support/people';
import { Phone, type Tokens } from './support/phone';

const DAY_MS = 86_400_000;
const SCOPES = ['plants:read', 'account'];

let service: TestService;
let ada: Person;
let phone: Phone;
let tokens: Tokens;
beforeAll(async () => {
  service = await startService();
  ada = await person(service);
});
beforeEach(async () => {
  phone = await Phone.register(service, ada);
  tokens = await phone.tokens({ scope: SCOPES.join(' ') });
});
afterEach(resetClock);
afterAll(() => service.close());

function userWith(token: string) {
  return userOf(service.url, ada.name, token);
}

/** Creates a developer token with another token. */
async function created(by: string): Promise<{ id: string; token: string }> {
  const wanted = { name: 'Script', scopes: SCOPES, expiresIn: 300 * 86_400 };
  const answer = await userWith(by).post('/api/account/tokens', wanted).expect(201);
  const { id, token } = bodyOf(answer);
  return { id: String(id), token: String(token) };
}

async function statusesOf(all: readonly string[]): Promise<number[]> {
  return Promise.all(all.map(async (token) => (await userWith(token).get('/api/account')).status));
}

const revoke = (token: string) =>
  service.anonymous
    .post('/oauth/revoke')
    .type('form')
    .send({ client_id: phone.clientId, token })
    .expect(200);

/** Every way in which the access of an app ends. */
const ENDS: Readonly<Record<string, () => Promise<unknown>>> = {
  'is revoked in /settings': async () => {
    const page = await phone.browser.go('/settings');
    const form = /value="revokeApp"[^]*?name="id" value="([^"]+)"/g;
    for (const [, id = ''] of page.text.matchAll(form)) {
      await phone.browser.submit(page, { action: 'revokeApp', id });
    }
  },
  'is deleted by an operator': () =>
    service.app.exportsOf(oauthPlugin).deleteClient(phone.clientId),
  'revokes its refresh token': () => revoke(tokens.refresh_token),
  'uses a refresh token twice': async () => {
    const next = bodyOf(await phone.refresh(tokens.refresh_token).expect(200));
    await phone.refresh(String(next['refresh_token'])).expect(200);
    await phone.refresh(tokens.refresh_token).expect(400);
  },
  'is not used for 92 days': async () => {
    setClock(Date.now() + 92 * DAY_MS);
  },
};

test.each(Object.entries(ENDS))('the tokens that an app created end when it %s', async (_, end) => {
  const own = await service.user({ id: ada.name, expiresInSeconds: 300 * 86_400 });
  const script = await created(tokens.access_token);
  const further = await created(script.token);
  const rotated = await service.app.exportsOf(accountsPlugin).tokens.rotateToken(further.id, 3600);
  const made = [script.token, further.token, rotated?.token ?? ''];
  expect(await statusesOf([own.token, ...made])).toEqual([200, 200, 200, 200]);
  await end();
  expect(await statusesOf([own.token, ...made])).toEqual([200, 401, 401, 401]);
  const { items } = bodyOf(await own.get('/api/account/tokens').expect(200));
  const ids = (items as { id: string }[]).map(({ id }) => id);
  for (const { id } of [script, further]) expect(ids).not.toContain(id);
});

test('while an app is used, the tokens that it created are valid, and another app does not end them', async () => {
  const script = await created(tokens.access_token);
  const other = await phone.tokens({ scope: SCOPES.join(' ') });
  await revoke(other.refresh_token);
  for (let months = 0; months < 3; months += 1) {
    setClock(Date.now() + 60 * DAY_MS);
    tokens = bodyOf(await phone.refresh(tokens.refresh_token).expect(200)) as unknown as Tokens;
    expect(await statusesOf([script.token])).toEqual([200]);
  }
});

test('a token that is created while its app is revoked ends too', async () => {
  for (let times = 0; times < 5; times += 1) {
    const app = await phone.tokens({ scope: SCOPES.join(' ') });
    const wanted = { name: 'Script', scopes: SCOPES, expiresIn: 3600 };
    const [answer] = await Promise.all([
      userWith(app.access_token).post('/api/account/tokens', wanted),
      revoke(app.refresh_token),
    ]);
    const { token } = bodyOf(answer);
    if (answer.status === 201) expect(await statusesOf([String(token)])).toEqual([401]);
    else expect(answer.status).toBe(401);
  }
});
