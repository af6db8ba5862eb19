import { once } from 'node:events';
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';

import { exportSPKI, importJWK, UnsecuredJWT } from 'jose';

import { hashOf } from '../../../src/core/identity';
import { rpc } from '../../../test/mcp/support';
import { listening } from '../../../test/support/listening';
import { resetClock, setClock } from '../../../test/support/clock';
import { accountsPlugin, startService, userOf } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError } from '../../../test/support/shapes';
import { AUDIENCE, type Claims, TokenIssuer } from './support/token-issuer';

let issuer: TokenIssuer;
let service: TestService;
beforeAll(async () => {
  issuer = await TokenIssuer.start();
  service = await startService({
    env: { ...issuer.env, OIDC_TIER_CLAIM: 'https://plants.example/tier' },
  });
});
afterEach(resetClock);
afterAll(async () => {
  await service.close();
  await issuer.close();
});

const MINUTE_MS = 60_000;
const FLOOD = 'x'.repeat(64 * 1024);
const SCOPE = 'plants:read plants:write';

async function holder(claims: Claims, at = service, by = issuer): Promise<TestUser> {
  return userOf(at.url, '', await by.token({ sub: randomUUID(), scope: SCOPE, ...claims }));
}

async function accountOf(user: TestUser): Promise<Record<string, unknown>> {
  return bodyOf(await user.get('/api/account').expect(200));
}

/** Expects that a token is refused, and that clients are told to get another. */
async function expectRefused(token: string, why: RegExp = /malformed/, at = service) {
  const user = userOf(at.url, '', token);
  expectError(await user.get('/api/plants'), 401, 'invalid_token', why);
  const answer = await user.post('/api/mcp', rpc('tools/list'));
  expectError(answer, 401, 'invalid_token', why);
  expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
}

test('the first call with a valid token creates the account, once', async () => {
  const sub = randomUUID();
  const users = await Promise.all([1, 2, 3, 4].map((exp) => holder({ sub, jti: `${exp}` })));
  const accounts = await Promise.all(users.map(accountOf));
  expect(new Set(accounts.map(({ userId }) => userId)).size).toBe(1);
  const [{ userId, token } = {}] = accounts;
  // As docs/sign-in.md tells backends.
  expect(userId).toBe(`oidc|${hashOf(JSON.stringify([issuer.name, sub]))}`);
  expect(token).toMatchObject({ name: new URL(issuer.name).host, scopes: SCOPE.split(' ') });
  const [user] = users;
  await user?.plant();
  await user?.post('/api/mcp', rpc('tools/list')).expect(200);
  expect((await accountOf(await holder({}))).userId).not.toBe(userId);
});

test('people of two issuers with the same sub have different accounts', async () => {
  const other = await TokenIssuer.start();
  const { mongodbUri } = service;
  const beside = await startService({ mongodbUri, env: other.env });
  const here = await accountOf(await holder({ sub: 'ada' }));
  const there = await accountOf(await holder({ sub: 'ada' }, beside, other));
  expect(there['userId']).not.toBe(here['userId']);
  await expectRefused(await other.token({ sub: 'ada' }));
  await beside.close();
  await other.close();
});

test.each([
  ['scope', 'openid plants:read'],
  ['permissions', ['read:users', 'plants:read']],
  ['scp', 'plants:read'],
])('the scopes of a token are those in %s', async (claim, value) => {
  const user = await holder({ scope: 'openid', [claim]: value });
  await user.get('/api/plants').expect(200);
  expectError(await user.post('/api/plants', { name: 'Fern' }), 403, 'insufficient_scope');
});

test('a token that names no scope of ours has those of OIDC_SCOPES, none by default', async () => {
  const user = await holder({ scope: 'openid email' });
  expect((await accountOf(user))['token']).toMatchObject({ scopes: [] });
  expectError(await user.get('/api/plants'), 403, 'insufficient_scope');
  const generous = await startService({
    env: { ...issuer.env, OIDC_SCOPES: 'plants:read, accounts:manage' },
  });
  await (await holder({ scope: 'openid' }, generous)).get('/api/plants').expect(200);
  for (const scope of ['openid', 'insights:read']) {
    const other = await holder({ scope }, generous);
    expectError(await other.get('/api/accounts'), 403, 'insufficient_scope', /accounts:manage/);
  }
  await generous.close();
});

test('a token manages accounts only if OIDC_SCOPES allows it, as a backend', async () => {
  const scope = 'plants:read accounts:manage';
  const user = await holder({ scope });
  expectError(await user.get('/api/accounts'), 403, 'insufficient_scope');
  await user.get('/api/plants').expect(200);
  const trusting = await startService({ env: { ...issuer.env, OIDC_SCOPES: 'accounts:manage' } });
  const shop = await holder({ scope, client_id: 'shop' }, trusting);
  await shop.put('/api/accounts/ada', { tier: 'pro' }).expect(201);
  const made = await shop.post('/api/accounts/ada/tokens', { name: 'Phone', expiresIn: 86_400 });
  expect(Date.parse(String(bodyOf(made)['expiresAt']))).toBeGreaterThan(Date.now() + 80_000_000);
  expect(bodyOf(await shop.get('/api/accounts').expect(200))['items']).toHaveLength(1);
  expectError(await shop.get('/api/plants'), 403, 'insufficient_scope');
  await trusting.close();
});

test('the tier is that of the claim, and free without it', async () => {
  const sub = randomUUID();
  const claimed = async (tier?: unknown) =>
    (
      await accountOf(await holder({ sub, 'https://plants.example/tier': tier, jti: randomUUID() }))
    )['tier'];
  expect(await claimed('pro')).toBe('pro');
  expect(await claimed('gold')).toBe('free');
  expect(await claimed('pro')).toBe('pro');
  expect(await claimed()).toBe('free');
});

test('without OIDC_TIER_CLAIM operators and backends set the tier', async () => {
  const plain = await startService({ env: issuer.env });
  const user = await holder({ tier: 'pro' }, plain);
  expect((await accountOf(user))['tier']).toBe('free');
  await plain.close();
});

test.each(['ES256', 'EdDSA', 'PS384'])(
  'a token signed by a published %s key is accepted',
  async (alg) => {
    const fresh = await TokenIssuer.start();
    const beside = await startService({ env: fresh.env });
    await accountOf(await holder({}, beside, fresh));
    await fresh.rotate('second', alg);
    await accountOf(await holder({}, beside, fresh));
    await beside.close();
    await fresh.close();
  },
);

test('a withdrawn key is refused after 20 minutes', async () => {
  const fresh = await TokenIssuer.start();
  const beside = await startService({ env: fresh.env });
  const user = await holder({}, beside, fresh);
  await accountOf(user);
  await fresh.rotate('second');
  await accountOf(user);
  setClock(Date.now() + 20 * MINUTE_MS);
  await expectRefused(user.token, /malformed/, beside);
  await beside.close();
  await fresh.close();
});

test('while the issuer is down, known keys stay valid, and unknown ones get 503', async () => {
  const fresh = await TokenIssuer.start();
  const beside = await startService({ env: fresh.env });
  await accountOf(await holder({}, beside, fresh));
  await fresh.close();
  setClock(Date.now() + 30 * MINUTE_MS);
  await accountOf(await holder({}, beside, fresh));
  await fresh.rotate('second');
  const unknown = await holder({}, beside, fresh);
  const answer = await unknown.get('/api/plants');
  expectError(answer, 503, 'service_unavailable', /issuer/);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expectError(await unknown.post('/api/mcp', rpc('tools/list')), 503, 'service_unavailable');
  await fresh.open();
  setClock(Date.now() + 11_000);
  await accountOf(unknown);
  await beside.close();
  await fresh.close();
});

test('a server that starts while the issuer is down accepts tokens once it is up', async () => {
  const fresh = await TokenIssuer.start();
  fresh.isBroken = true;
  const beside = await startService({ env: fresh.env });
  const user = await holder({}, beside, fresh);
  expectError(await user.get('/api/plants'), 503, 'service_unavailable');
  fresh.isBroken = false;
  setClock(Date.now() + 11_000);
  await accountOf(user);
  await beside.close();
  await fresh.close();
});

test('unknown keys cause at most three fetches in ten seconds', async () => {
  setClock(Date.now());
  await accountOf(await holder({}));
  const before = issuer.asked;
  const stranger = await TokenIssuer.start();
  await Promise.all(
    Array.from({ length: 50 }, async (_, each) => {
      await stranger.rotate(`invented ${each}`, 'ES256');
      await expectRefused(await stranger.token({ sub: 'ada', iss: issuer.name }));
    }),
  );
  expect(issuer.asked - before).toBeLessThanOrEqual(3);
  await stranger.close();
});

test('a token that is unsigned, or signed with the public key, is refused', async () => {
  const sub = 'ada';
  const claims = { sub, scope: SCOPE, iss: issuer.name, aud: AUDIENCE };
  const unsigned = new UnsecuredJWT(claims).setIssuedAt().setExpirationTime('1h').encode();
  await expectRefused(unsigned);
  const [jwk = {}] = issuer.published;
  const publicKey = await importJWK(jwk, 'RS256', { extractable: true });
  if (publicKey instanceof Uint8Array) throw new Error('A public key is no secret.');
  const key = await exportSPKI(publicKey);
  await expectRefused(await issuer.token({ sub }, { alg: 'HS256', key }));
  const good = await issuer.token({ sub });
  const [head = '', , tail = ''] = good.split('.');
  const forged = Buffer.from(JSON.stringify({ ...claims, exp: 9_999_999_999 })).toString(
    'base64url',
  );
  await expectRefused([head, forged, tail].join('.'));
  await expectRefused([head, tail, ''].join('.'));
  await expectRefused('eyJhbGciOiJSUzI1NiJ9.e30.');
});

test.each<[string, Claims, RegExp]>([
  ['another audience', { aud: 'https://other.example' }, /another audience/],
  ['no audience', { aud: undefined }, /another audience/],
  ['another issuer', { iss: 'https://id.example' }, /malformed/],
  ['no end', { exp: undefined }, /malformed/],
  ['no person', { sub: undefined }, /malformed/],
  ['an empty name', { sub: '' }, /malformed/],
])('a token with %s is refused', async (_what, claims, why) => {
  await expectRefused(await issuer.token({ sub: 'ada', ...claims }), why);
});

test('clocks may differ by 20 seconds, but not by 60', async () => {
  const now = Math.floor(Date.now() / 1000);
  setClock(now * 1000);
  await accountOf(await holder({ exp: now - 20 }));
  await accountOf(await holder({ nbf: now + 20, iat: now + 20 }));
  await expectRefused(await issuer.token({ sub: 'ada', exp: now - 60 }), /expired/);
  await expectRefused(await issuer.token({ sub: 'ada', nbf: now + 60 }), /not valid yet/);
});

test('a token is refused once it has expired', async () => {
  const user = await holder({});
  await accountOf(user);
  setClock(Date.now() + 61 * MINUTE_MS);
  await expectRefused(user.token, /expired/);
});

test('older tokens do not create a deleted account again', async () => {
  const sub = randomUUID();
  const scope = 'account plants:read';
  const [user, unused] = [await holder({ sub, scope }), await holder({ sub, jti: 'unused' })];
  const { userId } = await accountOf(user);
  await user.delete('/api/account').send({ confirm: userId }).expect(200);
  for (const { token } of [user, unused]) await expectRefused(token, /revoked/);
  await service.app.exportsOf(accountsPlugin).data.deleteUser(String(userId), () => undefined);
  for (const { token } of [user, unused, user]) await expectRefused(token, /revoked/);
  setClock(Date.now() + 2000);
  await accountOf(await holder({ sub }));
});

test('with an issuer the sign-in pages are 404, and metadata names the issuer', async () => {
  for (const path of [
    '/sign-in',
    '/sign-up',
    '/oauth/authorize',
    '/oauth/jwks',
    '/oauth/consent/x',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
  ]) {
    expectError(await service.anonymous.get(path), 404, 'not_found');
  }
  for (const path of ['/oauth/token', '/oauth/register', '/oauth/revoke']) {
    expectError(await service.anonymous.post(path), 404, 'not_found');
  }
  for (const path of ['', '/api/mcp']) {
    const at = `/.well-known/oauth-protected-resource${path}`;
    const document = bodyOf(await service.anonymous.get(at).expect(200));
    expect(document).toMatchObject({
      resource: service.url + path,
      authorization_servers: [issuer.name],
    });
  }
  const refused = await service.anonymous.post('/api/mcp').send({}).expect(401);
  expect(refused.headers['www-authenticate']).toContain('resource_metadata=');
  await service.anonymous.get('/pages.css').expect(200);
  const settings = await service.anonymous.get('/settings').expect(200);
  expect(settings.text).toContain(new URL(issuer.name).host);
});

test('developer tokens also work with an issuer; JWTs require one', async () => {
  const ada = await service.user();
  await ada.get('/api/plants').expect(200);
  const nonsense = userOf(service.url, '', 'nonsense');
  expectError(await nonsense.post('/api/mcp', rpc('tools/list')), 403, 'invalid_token');
  const own = await startService();
  await expectRefused(await issuer.token({ sub: 'ada' }), /malformed/, own);
  await own.close();
});

test('a JWT that is another kind of token is refused', async () => {
  const signed = (typ?: string) =>
    issuer.token({ sub: randomUUID(), scope: SCOPE }, { header: typ === undefined ? {} : { typ } });
  for (const typ of [undefined, 'JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt']) {
    await userOf(service.url, '', await signed(typ))
      .get('/api/plants')
      .expect(200);
  }
  for (const typ of ['logout+jwt', 'secevent+jwt', 'dpop+jwt', 'id_token', 'refresh+jwt', '']) {
    await expectRefused(await signed(typ));
  }
});

test('a key set of more than 100 KB is refused', async () => {
  const large = await TokenIssuer.start();
  large.padding = 'x'.repeat(200_000);
  const beside = await startService({ env: large.env });
  const token = await large.token({ sub: randomUUID(), scope: SCOPE });
  const user = userOf(beside.url, '', token);
  expectError(await user.get('/api/plants'), 503, 'service_unavailable');
  expect(beside.logged.join('')).toContain('responded with more than 102400 bytes');
  large.padding = 'x'.repeat(50_000);
  await user.get('/api/plants').expect(200);
  await beside.close();
  await large.close();
});

test('of a response without an end, no more is read than fits the limit and the buffers of the system', async () => {
  const most = 64 * 1024 * 1024;
  const closings: Promise<unknown>[] = [];
  let written = 0;
  const endless = createServer((_request, response) => {
    closings.push(once(response, 'close'));
    const write = (): void => {
      // The system's buffers take what is not read, so only a full one says that nobody reads.
      while (!response.destroyed && written < most) {
        written += FLOOD.length;
        if (!response.write(FLOOD)) return;
      }
    };
    response.on('drain', write);
    write();
  });
  const env = {
    OIDC_ISSUER: `http://127.0.0.1:${await listening(endless)}`,
    OIDC_AUDIENCE: AUDIENCE,
  };
  const beside = await startService({ env });
  const token = await issuer.token({ iss: env.OIDC_ISSUER, sub: randomUUID(), scope: SCOPE });
  expectError(await userOf(beside.url, '', token).get('/api/plants'), 503, 'service_unavailable');
  expect(beside.logged.join('')).toContain('responded with more than 102400 bytes');
  // The connection is closed without the rest.
  await Promise.all(closings);
  expect(closings.length).toBeGreaterThan(0);
  expect(written).toBeLessThan(most / 2);
  await beside.close();
  endless.close();
});
