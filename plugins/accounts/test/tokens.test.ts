import { until } from '../../../test/support/processes';
import { createHash } from 'node:crypto';

import { resetClock, setClock } from '../../../test/support/clock';
import type { TestService, TestUser } from '../../../test/support/service';
import { expectError, NOBODYS_ID } from '../../../test/support/shapes';
import type { Accounts } from '..';
import type { TokenView } from '../tokens/views';
import { HOUR_MS } from '../../../src/core/time';
import {
  accountsPlugin,
  startProxiedService,
  startService,
  userOf,
} from '../../../test/support/program';

const START = Date.parse('2026-03-15T12:00:00.000Z');

let service: TestService;
let accounts: Accounts;

beforeAll(async () => {
  service = await startService();
  accounts = service.app.exportsOf(accountsPlugin);
});
afterEach(resetClock);
afterAll(() => service.close());

async function makeToken(userId: string, expiresInSeconds = 3600, scopes = ['plants:read']) {
  const made = await accounts.tokens.createToken({
    userId,
    scopes,
    name: 'phone',
    expiresInSeconds,
  });
  return { ...made, user: userOf(service.url, userId, made.token) };
}

async function viewOf(userId: string): Promise<TokenView | undefined> {
  return (await accounts.tokens.tokens(userId))[0];
}

/** Makes a request, which records the use of the token beside it. */
async function use(user: TestUser, expected = 200): Promise<void> {
  await user.get('/api/plants').expect(expected);
}

/** CRC-32 of ISO 3309, bit by bit. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function base62(value: number): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const rest = Math.floor(value / 62);
  return (rest > 0 ? base62(rest) : '') + digits.charAt(value % 62);
}

test('a token is its prefix, at least 30 random base62 characters and 6 of their CRC32', async () => {
  const seen = new Set<string>();
  for (let count = 0; count < 20; count += 1) {
    const { token } = await makeToken('format');
    const [, random = '', checksum] =
      /^tnd_mcp_([0-9A-Za-z]{30,})([0-9A-Za-z]{6})$/.exec(token) ?? [];
    expect(checksum).toBe(base62(crc32(random)).padStart(6, '0'));
    seen.add(random);
  }
  expect(seen.size).toBe(20);
});

test('a token with any one character changed is not a token', async () => {
  const { token } = await makeToken('typo');
  for (let index = 0; index < token.length; index += 1) {
    const other = token[index] === 'a' ? 'b' : 'a';
    const typo = token.slice(0, index) + other + token.slice(index + 1);
    expectError(await userOf(service.url, 'typo', typo).get('/api/plants'), 401, 'invalid_token');
  }
});

test('only the SHA-256 of a token is stored, anywhere in the database', async () => {
  const { token, user } = await makeToken('secret');
  await use(user);
  const { db } = service.app.database.connection;
  const names = (await db?.listCollections().toArray())?.map(({ name }) => name) ?? [];
  const everything = await Promise.all(
    names.map(async (name) => JSON.stringify(await db?.collection(name).find().toArray())),
  );
  const stored = everything.join('\n');
  expect(names).toContain('tokens');
  expect(stored).not.toContain(token);
  expect(stored).not.toContain(token.slice('tnd_mcp_'.length, -6));
  const sha256 = createHash('sha256').update(token);
  expect(stored).toContain(sha256.copy().digest('base64url'));
});

test('operators see everything about a token except the token itself', async () => {
  const { token, view } = await makeToken('viewed', 60);
  expect(Object.keys(view).sort()).toEqual(
    [
      'createdAt',
      'expiresAt',
      'id',
      'lastUsedAt',
      'name',
      'replacedBy',
      'revokedAt',
      'scopes',
      'user',
    ].sort(),
  );
  expect(view.expiresAt.getTime() - view.createdAt.getTime()).toBe(60_000);
  const listed = await accounts.tokens.tokens('viewed');
  expect(listed).toEqual([view]);
  expect(JSON.stringify([view, listed])).not.toContain(token);
});

test('a token is valid until it expires', async () => {
  setClock(START);
  const { user } = await makeToken('expiring', 60);
  setClock(START + 60_000 - 1);
  await use(user);
  setClock(START + 60_000);
  expectError(await user.get('/api/plants'), 401, 'invalid_token');
  setClock(START + 10 * HOUR_MS);
  expectError(await user.get('/api/plants'), 401, 'invalid_token');
});

test('creating, first using and revoking a token are recorded once each', async () => {
  const { user, view } = await makeToken('recorded');
  await use(user);
  await until(async () => (await viewOf('recorded'))?.lastUsedAt !== null);
  for (let count = 0; count < 2; count += 1) await accounts.tokens.revokeToken(view.id);
  const recorded: string[] = [];
  for await (const entries of service.app.audit.entries({ userId: 'recorded', action: 'token' })) {
    recorded.push(...entries.map(({ action }) => action));
  }
  expect(recorded).toEqual(['token.created', 'token.first_used', 'token.revoked']);
});

test('a revoked token is refused from the next request on, and others of the account are not', async () => {
  const [revoked, kept] = [await makeToken('revoking'), await makeToken('revoking')];
  // On the third request the service remembers the token.
  for (let count = 0; count < 3; count += 1) await use(revoked.user);
  const view = await accounts.tokens.revokeToken(revoked.view.id);
  expect(new Date(String(view?.revokedAt)).getTime()).toBeGreaterThan(0);
  expectError(await revoked.user.get('/api/plants'), 401, 'invalid_token');
  await use(kept.user);
});

test('a token that is revoked on one server is refused by another from the next request on', async () => {
  const second = await startService({ mongodbUri: service.mongodbUri });
  try {
    const { user, view } = await makeToken('elsewhere');
    for (let count = 0; count < 3; count += 1) await use(user);
    await second.app.exportsOf(accountsPlugin).tokens.revokeToken(view.id);
    await use(user, 401);
  } finally {
    await second.close();
  }
});

test('a token that is revoked during requests and changes stays refused', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { user, view } = await makeToken('amid', 3600, ['plants:read', 'plants:write']);
    await user.post('/api/plants', { name: 'Fern' }).expect(201);
    let isRevoked = false;
    const caller = async (): Promise<void> => {
      while (!isRevoked) {
        await user.get('/api/plants');
        await user.post('/api/plants', { name: 'Fern' });
      }
      await use(user, 401);
    };
    const callers = Promise.all(Array.from({ length: 4 }, caller));
    await accounts.tokens.revokeToken(view.id);
    isRevoked = true;
    await callers;
    await use(user, 401);
  }
});

test('revoking twice keeps the time of the first, and revoking an unknown token returns nothing', async () => {
  const { view } = await makeToken('twice');
  setClock(START);
  await accounts.tokens.revokeToken(view.id);
  setClock(START + 1000);
  const again = await accounts.tokens.revokeToken(view.id);
  expect(again?.revokedAt).toEqual(new Date(START));
  expect(await accounts.tokens.revokeToken(NOBODYS_ID)).toBeUndefined();
});

test('the last use of a token is recorded, at most once an hour', async () => {
  setClock(START);
  const { user, view } = await makeToken('used', 24 * 3600);
  expect(view.lastUsedAt).toBeNull();
  await use(user);
  await until(async () => (await viewOf('used'))?.lastUsedAt !== null);
  const first = (await viewOf('used'))?.lastUsedAt;
  expect(first).toEqual(new Date(START));
  setClock(START + HOUR_MS - 1);
  for (let count = 0; count < 20; count += 1) await use(user);
  expect((await viewOf('used'))?.lastUsedAt).toEqual(first);
  setClock(START + HOUR_MS + 1);
  await use(user);
  await until(async () => (await viewOf('used'))?.lastUsedAt?.getTime() !== START);
  const second = (await viewOf('used'))?.lastUsedAt?.getTime() ?? 0;
  expect(second).toBe(START + HOUR_MS);
  setClock(START + 2 * HOUR_MS - 1);
  for (let count = 0; count < 20; count += 1) await use(user);
  expect((await viewOf('used'))?.lastUsedAt?.getTime()).toBe(second);
});

test('many requests with a new token look it up and record its first use once', async () => {
  const proxied = await startProxiedService({ jobs: false });
  const sent: string[] = [];
  const { app } = proxied.service;
  const made = await app.exportsOf(accountsPlugin).tokens.createToken({
    userId: 'crowd',
    scopes: ['plants:read'],
    name: 'phone',
    expiresInSeconds: 60,
  });
  proxied.proxy.onCommand(({ name, collection }) => {
    if (collection === 'tokens' || name.endsWith('Transaction')) sent.push(`${name} ${collection}`);
    return undefined;
  });
  const user = userOf(proxied.service.url, 'crowd', made.token);
  await Promise.all(Array.from({ length: 100 }, () => user.get('/api/plants').expect(200)));
  await until(async () => sent.some((command) => command.startsWith('commit')));
  await proxied.close();
  const count = (name: string) => sent.filter((command) => command.startsWith(name)).length;
  expect([count('update'), count('commit'), count('abort')]).toEqual([1, 1, 0]);
  expect(count('find')).toBeLessThan(20);
});

test('a refused token is not recorded as used', async () => {
  setClock(START);
  const { user, view } = await makeToken('unused', 60);
  await accounts.tokens.revokeToken(view.id);
  await use(user, 401);
  expect((await viewOf('unused'))?.lastUsedAt).toBeNull();
});

test('a token without scopes opens operations that need none', async () => {
  const { user } = await makeToken('scopeless', 60, []);
  await user.get('/api/announcements').expect(200);
  expectError(await user.get('/api/plants'), 403, 'insufficient_scope', /plants:read/);
});
