import { record, records } from '../../../test/support/client';
import { startService, userOf } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, listOf } from '../../../test/support/shapes';
import { letIn } from '../../../test/support/sharing';
import { Browser, type Page } from './support/browser';
import { PASSWORD, person, type Person } from './support/people';
import { Phone, type Tokens } from './support/phone';

let service: TestService;
let ada: TestUser;
let ben: Person;
/** Ben's own token, for what his app must not do. */
let own: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  ben = await person(service);
  [ada, own] = await Promise.all([service.user(), service.user({ id: ben.name })]);
  await ada.patch('/api/account', { gardenName: 'Balcony' }).expect(200);
});
afterAll(() => service.close());

/** The consent page that an app of Ben gets to. */
async function consent(scope?: string, resource?: string) {
  const phone = await Phone.register(service, ben);
  const asked = await phone.browser.go(phone.asks({ scope, resource }));
  const page = await phone.browser.submit(asked, { name: ben.name, password: PASSWORD });
  return { phone, page };
}

/** The tokens of an app that Ben allows a garden. */
async function tokensFor(garden: string, scope?: string, resource?: string) {
  const { phone, page } = await consent(scope, resource);
  const { url } = await phone.browser.submit(page, { answer: 'allow', garden });
  const answer = await phone.exchange(url.searchParams.get('code') ?? '').expect(200);
  const tokens = bodyOf(answer) as unknown as Tokens;
  return { phone, tokens, app: userOf(service.url, ben.name, tokens.access_token) };
}

async function settings(): Promise<string> {
  const browser = new Browser(service.url);
  const page = await browser.go('/sign-in?return=/settings');
  return (await browser.submit(page, { name: ben.name, password: PASSWORD })).text;
}

test('the consent page lets a person with several gardens choose', async () => {
  expect((await consent()).page.text).not.toContain('name="garden"');
  await letIn(ada, own, { role: 'carer' });
  const { page } = await consent();
  const options = [...page.text.matchAll(/<option value="([^"]*)"[^>]*>([^<]*)</g)];
  expect(options.map(([, value, label]) => [value, label])).toEqual([
    [ben.name, 'Your own garden'],
    [ada.id, `Balcony (${ada.id})`],
    ['', 'All gardens that are open to you'],
  ]);
});

test('an app that was allowed one garden is of that garden alone, with what the role permits', async () => {
  await letIn(ada, own, { role: 'carer' });
  await ada.plant({ name: 'Fern' });
  const { phone, tokens, app } = await tokensFor(ada.id, 'plants:read plants:write events:write');
  expect(record(tokens)['scope']).toBe('plants:read events:write');
  expect(listOf(await app.get('/api/plants').expect(200))).toMatchObject([{ name: 'Fern' }]);
  expectError(await app.get('/api/plants').set('Garden', ben.name), 404, 'garden_not_found');
  const next = bodyOf(await phone.refresh(tokens.refresh_token).expect(200));
  const later = userOf(service.url, ben.name, String(next['access_token']));
  expect(listOf(await later.get('/api/plants').expect(200))).toHaveLength(1);
});

test("an app that was allowed the person's own garden opens no other, and one that was allowed all does", async () => {
  await letIn(ada, own, { role: 'carer' });
  await ada.plant({ name: 'Fern' });
  const inAdas = (app: TestUser) => app.get('/api/plants').set('Garden', ada.id);
  const { app } = await tokensFor(ben.name);
  expect(listOf(await app.get('/api/plants').expect(200))).toEqual([]);
  expectError(await inAdas(app), 404, 'garden_not_found');
  const all = await tokensFor('');
  expect(listOf(await all.app.get('/api/plants').expect(200))).toEqual([]);
  expect(listOf(await inAdas(all.app).expect(200))).toHaveLength(1);
});

test('an app that asks for more finds the garden chosen for which it was allowed last', async () => {
  await letIn(ada, own, { role: 'gardener' });
  const chosen = (page: Page) =>
    /<option value="([^"]*)" selected/.exec(page.text.replace(/\s+/g, ' '))?.[1];
  const { phone } = await tokensFor(ben.name, 'plants:read');
  const again = async () =>
    phone.browser.go(phone.asks({ scope: 'plants:read plants:write', prompt: 'consent' }));
  expect(chosen(await again())).toBe(ben.name);
  await phone.browser.submit(await again(), { answer: 'allow', garden: ada.id });
  expect(chosen(await again())).toBe(ada.id);
  // What is new is chosen anew.
  const { page } = await consent();
  expect(chosen(page)).toBeUndefined();
  await phone.browser.submit(await again(), { answer: 'allow', garden: '' });
  expect(chosen(await again())).toBeUndefined();
});

test('the access of an app ends with the membership, and cannot be renewed', async () => {
  const member = await letIn(ada, own, { role: 'carer' });
  const resource = `${service.url}/api/mcp`;
  const { phone, tokens, app } = await tokensFor(ada.id, 'plants:read', resource);
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  await app.post('/api/mcp', list).expect(200);
  expect(await settings()).toContain(`Garden: Balcony (${ada.id})`);
  await ada.delete(`/api/account/members/${member}`).expect(200);
  const refused = await app.post('/api/mcp', list);
  expectError(refused, 401, 'invalid_token');
  const renewed = await phone.refresh(tokens.refresh_token).expect(400);
  expect(renewed.body).toMatchObject({ error: 'invalid_grant' });
  expect(await settings()).not.toContain('value="revokeApp"');
  // Neither when the person is let in again.
  await letIn(ada, own, { role: 'carer' });
  expectError(await app.post('/api/mcp', list), 401, 'invalid_token');
});

test('a garden that is closed while the page is open is refused, and so is one that never was', async () => {
  const member = await letIn(ada, own);
  for (const garden of [ada.id, 'nobody']) {
    const { phone, page } = await consent();
    if (garden === ada.id) await ada.delete(`/api/account/members/${member}`).expect(200);
    const answer = await phone.browser.submit(page, { answer: 'allow', garden });
    expect([answer.url.origin, answer.status]).toEqual([service.url, 400]);
    expect(answer.text).toContain('This does not exist any more.');
  }
});

test('an app whose role lacks everything that it asks for gets no access', async () => {
  await letIn(ada, own, { role: 'viewer' });
  const { phone, page } = await consent('events:write');
  const { url } = await phone.browser.submit(page, { answer: 'allow', garden: ada.id });
  expect(url.searchParams.get('error')).toBe('access_denied');
});

test('a tool is no reason to ask for a scope that the role does not have', async () => {
  const member = await letIn(ada, own, { role: 'carer' });
  const resource = `${service.url}/api/mcp`;
  const { app } = await tokensFor(ada.id, 'plants:read events:write', resource);
  const call = (name: string, given: object) =>
    app.post('/api/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: given },
    });
  const plant = await call('create_plant', { name: 'Ivy' }).expect(200);
  expect(plant.headers).not.toHaveProperty('www-authenticate');
  expect(plant.text).toContain('In this garden that needs the role gardener; yours is carer.');
  // A raised role is a reason.
  await ada.patch(`/api/account/members/${member}`, { role: 'gardener' }).expect(200);
  const raised = await call('create_plant', { name: 'Ivy' });
  expectError(raised, 403, 'insufficient_scope', /token lacks the scope plants:write/);
  expect(raised.headers['www-authenticate']).toContain(
    'scope="plants:read events:write plants:write"',
  );
  // A lowered one is no reason for what the token has.
  await ada.patch(`/api/account/members/${member}`, { role: 'viewer' }).expect(200);
  const lowered = await call('get_insights', {});
  expectError(lowered, 403, 'insufficient_scope', /token lacks the scope insights:read/);
  expect(lowered.headers['www-authenticate']).toContain('scope="plants:read insights:read"');
});

test('the settings make a token for one garden, and show it', async () => {
  await letIn(ada, own, { role: 'carer' });
  const browser = new Browser(service.url);
  const signIn = await browser.go('/sign-in?return=/settings');
  const page = await browser.submit(signIn, { name: ben.name, password: PASSWORD });
  expect(page.text).toContain(`<option value="${ada.id}" >Balcony (${ada.id})</option>`);
  const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  const make = (fields: Record<string, string>) => {
    const body = new URLSearchParams({ action: 'makeToken', csrf, name: 'Script', days: '7' });
    for (const scope of ['plants:read', 'plants:write']) body.append('scope', scope);
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    return browser.go('/settings', { method: 'POST', body });
  };
  const made = await make({ garden: ada.id });
  expect(made.text).toContain(`Garden: Balcony (${ada.id})`);
  const token = /id="token"[^>]*>([^<]+)</.exec(made.text)?.[1] ?? '';
  const script = userOf(service.url, ben.name, token);
  const { userId, token: held } = bodyOf(await script.get('/api/account').expect(200));
  expect([userId, record(held)['scopes']]).toEqual([ada.id, ['plants:read']]);
  const { items } = bodyOf(await own.get('/api/account/tokens').expect(200));
  expect(records(items)).toContainEqual(
    expect.objectContaining({ scopes: ['plants:read'], garden: ada.id }),
  );
  expect((await make({ garden: 'nobody' })).text).toContain('This does not exist any more.');
});
