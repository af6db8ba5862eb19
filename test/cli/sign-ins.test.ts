import { Browser } from '../../plugins/oauth/test/support/browser';
import { person } from '../../plugins/oauth/test/support/people';
import { Phone } from '../../plugins/oauth/test/support/phone';
import { record, records } from '../support/client';
import { startService, userOf } from '../support/program';
import type { TestService } from '../support/service';
import { bodyOf, expectError } from '../support/shapes';
import { CommandLine } from './run';

const CALLBACK = 'https://ferns.example/callback';

let service: TestService;
let cli: CommandLine;
beforeAll(async () => {
  service = await startService({});
  cli = new CommandLine(service.mongodbUri);
});
afterAll(() => service.close());

async function created(...options: string[]) {
  const args = ['--name', 'Ferns', '--redirect-uri', CALLBACK, ...options];
  return record(await cli.json('client', 'create', ...args));
}

async function audited(...args: string[]): Promise<unknown[]> {
  return records(await cli.json('audit', 'log', ...args)).map(({ action }) => action);
}

test('client create registers an app that people can authorize, and client delete revokes its tokens', async () => {
  const made = await created('com.example.ferns:/callback');
  const redirectUris = [CALLBACK, 'com.example.ferns:/callback'];
  expect(made).toMatchObject({ name: 'Ferns', redirectUris, expiresAt: null });
  expect(made).not.toHaveProperty('secret');
  const id = String(made['id']);
  const ada = await person(service);
  const phone = new Phone(service, ada, id);
  const { access_token: token, refresh_token: refresh } = await phone.tokens();
  const user = userOf(service.url, '', token);
  await user.get('/api/plants').expect(200);
  const listed = records(await cli.json('client', 'list'));
  expect(listed).toContainEqual(expect.objectContaining({ id, name: 'Ferns', redirectUris }));
  expect(await cli.json('client', 'delete', id)).toEqual({ id, revoked: 1 });
  expectError(await user.get('/api/plants'), 401, 'invalid_token');
  expect(bodyOf(await phone.refresh(refresh).expect(401))['error']).toBe('invalid_client');
  expect((await phone.browser.go(phone.asks())).status).toBe(400);
  expect(await audited('--action', 'client')).toEqual(['client.created', 'client.deleted']);
  expect(await audited('--action', 'program', '--user', ada.name)).toEqual([
    'program.allowed',
    'program.revoked',
  ]);
});

test('token revoke --user also revokes the apps that the person has authorized', async () => {
  const ada = await person(service);
  const phone = await Phone.register(service, ada);
  const { access_token: token, refresh_token: refresh } = await phone.tokens();
  const user = userOf(service.url, ada.name, token);
  await user.get('/api/plants').expect(200);
  await cli.json('token', 'revoke', '--user', ada.name);
  expectError(await user.get('/api/plants'), 401, 'invalid_token');
  await phone.refresh(refresh).expect(400);
  expect(await audited('--action', 'program', '--user', ada.name)).toEqual([
    'program.allowed',
    'program.revoked',
  ]);
});

test('user invite refuses the account of a backend', async () => {
  expect(await cli.run('user', 'invite', '~shop')).toMatchObject({ code: 2, stdout: '' });
});

test('an app with a secret must send it, and only its hash is stored', async () => {
  const made = await created('--secret');
  const secret = String(made['secret']);
  const phone = new Phone(service, await person(service), String(made['id']), CALLBACK);
  for (const wrong of [undefined, 'wrong', `${secret}x`]) {
    phone.secret = wrong;
    const refused = await phone.exchange('a code').expect(401);
    expect(bodyOf(refused)['error']).toBe('invalid_client');
  }
  phone.secret = secret;
  const { refresh_token: refresh } = await phone.tokens();
  await phone.refresh(refresh).expect(200);
  const inHeader = await service.anonymous
    .post('/oauth/token')
    .auth(phone.clientId, secret)
    .type('form')
    .send({ grant_type: 'refresh_token', refresh_token: refresh });
  expect(inHeader.status).toBe(200);
  const stored = await service.app.database.connection.collection('oauthState').find().toArray();
  expect(JSON.stringify(stored)).not.toContain(secret);
  expect(await cli.text('client', 'list', '--json')).not.toContain(secret);
});

test('an app needs a redirect URI that a browser can reach', async () => {
  for (const uri of [
    'http://ferns.example/callback',
    `${CALLBACK}#part`,
    'javascript:alert(1)',
    'intent://ferns',
  ]) {
    const args = ['--name', 'Ferns', '--redirect-uri', uri];
    const { code, stderr } = await cli.run('client', 'create', ...args);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/redirect_uris/);
  }
  expect(records(await cli.json('client', 'list'))).not.toContainEqual(
    expect.objectContaining({ redirectUris: ['http://ferns.example/callback'] }),
  );
});

test('the name of an app contains no domain name', async () => {
  const args = ['--name', 'Ferns (bank.example)', '--redirect-uri', CALLBACK];
  const { code, stderr } = await cli.run('client', 'create', ...args);
  expect(code).not.toBe(0);
  expect(stderr).toContain('client_name must not contain a domain name');
});

test('an app that registered itself is listed and can be deleted', async () => {
  const phone = await Phone.register(service, await person(service));
  expect(await cli.text('client', 'list')).toMatch(
    new RegExp(`${phone.clientId} +Ferns +com.example.ferns:/callback +\\d{4}-`),
  );
  expect(await cli.text('client', 'delete', phone.clientId)).toBe(
    'Deleted the client and revoked 0 grants.\n',
  );
  const { code, stderr } = await cli.run('client', 'delete', phone.clientId);
  expect([code, stderr]).toEqual([1, 'There is no such client.\n']);
});

test('session list shows who is signed in, and session end signs them out', async () => {
  const ada = await person(service);
  const browsers = [new Browser(service.url), new Browser(service.url)] as const;
  for (const browser of browsers) await browser.submit(await browser.go('/sign-in'), { ...ada });
  const isIn = async (browser: Browser) =>
    (await browser.go('/sign-in')).text.includes(`<strong>${ada.name}</strong>`);
  const listed = records(await cli.json('session', 'list', '--user', ada.name));
  expect(listed.map(({ user }) => user)).toEqual([ada.name, ada.name, ada.name]);
  expect(records(await cli.json('session', 'list'))).toEqual(expect.arrayContaining(listed));
  const last = String(listed.at(-1)?.['id']);
  expect(await cli.json('session', 'end', last)).toEqual({ ended: 1 });
  expect([await isIn(browsers[0]), await isIn(browsers[1])]).toEqual([true, false]);
  expect(await cli.text('session', 'end', '--user', ada.name)).toBe('2 sessions ended.\n');
  expect(await isIn(browsers[0])).toBe(false);
  expect((await cli.run('session', 'end', last)).stderr).toBe(`There is no session ${last}.\n`);
  expect((await cli.run('session', 'end')).code).toBe(2);
  expect(await cli.text('session', 'list', '--user', ada.name)).toBe('No sessions.\n');
  const ends = (await audited('--user', ada.name)).filter((act) => act === 'session.ended');
  expect(ends).toHaveLength(3);
});

test('with OIDC_ISSUER, user invite and client create are refused', async () => {
  const env = { OIDC_ISSUER: 'https://id.example.com', OIDC_AUDIENCE: 'plants' };
  const other = new CommandLine(service.mongodbUri, env);
  const { stderr } = await other.run('user', 'invite', 'ada');
  expect(stderr).toBe('People sign in at OIDC_ISSUER, not here.\n');
});
