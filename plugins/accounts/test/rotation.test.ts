import { resetClock, setClock } from '../../../test/support/clock';
import { queriesOf } from '../../../test/support/profiler';
import type { TestService, TestUser } from '../../../test/support/service';
import { NOBODYS_ID } from '../../../test/support/shapes';
import { DAY_MS, HOUR_MS } from '../../../src/core/time';
import type { Accounts } from '..';
import { accountsPlugin, startService, userOf } from '../../../test/support/program';

const START = Date.parse('2026-03-15T12:00:00.000Z');
const HOUR = HOUR_MS / 1000;

let service: TestService;
let accounts: Accounts;

beforeAll(async () => {
  service = await startService({ jobs: false });
  accounts = service.app.exportsOf(accountsPlugin);
});
afterEach(resetClock);
afterAll(() => service.close());

async function makeToken(userId: string, expiresInSeconds = 90 * 24 * HOUR) {
  const scopes = ['plants:read'];
  const made = await accounts.tokens.createToken({
    userId,
    scopes,
    name: 'phone',
    expiresInSeconds,
  });
  return { ...made, user: userOf(service.url, userId, made.token) };
}

async function rotate(id: string, overlapSeconds = 24 * HOUR) {
  const made = await accounts.tokens.rotateToken(id, overlapSeconds);
  if (!made) throw new Error('There is no such token.');
  return { ...made, user: userOf(service.url, made.view.user, made.token) };
}

async function expectStatus(user: TestUser, status: number): Promise<void> {
  await user.get('/api/plants').expect(status);
}

test('rotating a token creates one like it, and the old one is valid until the overlap ends', async () => {
  setClock(START);
  const old = await makeToken('rotating');
  await expectStatus(old.user, 200);
  setClock(START + 10 * DAY_MS);
  const made = await rotate(old.view.id);
  expect(made.token).not.toBe(old.token);
  expect(made.view).toMatchObject({
    user: 'rotating',
    name: 'phone',
    scopes: ['plants:read'],
    replacedBy: null,
    expiresAt: new Date(START + 100 * DAY_MS),
    lastUsedAt: null,
  });
  expect(made.rotated).toMatchObject({
    id: old.view.id,
    replacedBy: made.view.id,
    expiresAt: new Date(START + 11 * DAY_MS),
  });
  setClock(START + 11 * DAY_MS - 1);
  await expectStatus(old.user, 200);
  setClock(START + 11 * DAY_MS);
  await expectStatus(old.user, 401);
  await expectStatus(made.user, 200);
});

test('a token that is rotated on one server expires on another that remembers it', async () => {
  const second = await startService({ mongodbUri: service.mongodbUri });
  try {
    setClock(START);
    const old = await makeToken('elsewhere');
    const there = userOf(second.url, 'elsewhere', old.token);
    for (let count = 0; count < 3; count += 1) await expectStatus(there, 200);
    const made = await rotate(old.view.id, 60);
    await expectStatus(there, 200);
    setClock(START + 60_000);
    await expectStatus(there, 401);
    await expectStatus(userOf(second.url, 'elsewhere', made.token), 200);
  } finally {
    await second.close();
  }
});

test('an overlap of 0 ends the old token at once', async () => {
  const old = await makeToken('leaked');
  await expectStatus(old.user, 200);
  const made = await rotate(old.view.id, 0);
  await expectStatus(old.user, 401);
  await expectStatus(made.user, 200);
});

test('an overlap never extends a token', async () => {
  setClock(START);
  const old = await makeToken('short', HOUR);
  const made = await rotate(old.view.id, 24 * HOUR);
  expect(made.rotated.expiresAt).toEqual(new Date(START + HOUR_MS));
  expect(made.view.expiresAt).toEqual(new Date(START + HOUR_MS));
});

test('a token that was rotated, was revoked or has expired cannot be rotated', async () => {
  setClock(START);
  const [rotated, revoked, expired] = [
    await makeToken('ended'),
    await makeToken('ended'),
    await makeToken('ended', 60),
  ];
  const made = await rotate(rotated.view.id);
  await accounts.tokens.revokeToken(revoked.view.id);
  setClock(START + 60_000);
  await expect(rotate(rotated.view.id)).rejects.toThrow(`rotated before, to ${made.view.id}`);
  await expect(rotate(revoked.view.id)).rejects.toThrow('is revoked');
  await expect(rotate(expired.view.id)).rejects.toThrow('has expired');
  expect(await accounts.tokens.rotateToken(NOBODYS_ID, 0)).toBeUndefined();
  expect(await accounts.tokens.tokens('ended')).toHaveLength(4);
});

test('expired tokens are pruned, and no others', async () => {
  // Later than those of other tests.
  const start = START + 1000 * DAY_MS;
  setClock(start);
  await accounts.tokens.pruneTokens();
  const kept = await makeToken('pruned');
  const expired = [await makeToken('pruned', 60), await makeToken('pruned too', 60)];
  setClock(start + 60_000);
  expect(await accounts.tokens.pruneTokens()).toEqual({ deleted: 2 });
  expect(await accounts.tokens.tokens('pruned')).toMatchObject([{ id: kept.view.id }]);
  expect(await accounts.tokens.tokens('pruned too')).toEqual([]);
  for (const { user } of expired) await expectStatus(user, 401);
  await expectStatus(kept.user, 200);
  expect(await accounts.tokens.pruneTokens()).toEqual({ deleted: 0 });
});

test('an account that fails stops the pruning of no other, and is reported', async () => {
  const start = START + 1500 * DAY_MS;
  setClock(start);
  await accounts.tokens.pruneTokens();
  await makeToken('pruned never', 60);
  await makeToken('pruned anyway', 120);
  const stored = service.app.database.connection.collection<{ _id: string }>('accounts');
  const failing = { _id: 'pruned never' };
  await stored.updateOne(failing, { $set: { deletingSince: new Date() } });
  setClock(start + 120_000);
  const { deleted, failure } = await accounts.tokens.pruneTokens();
  expect(deleted).toBe(1);
  expect(String(failure)).toMatch(/^Error: There is no such account/);
  expect(await accounts.tokens.tokens('pruned anyway')).toEqual([]);
  await stored.updateOne(failing, { $unset: { deletingSince: 1 } });
  expect(await accounts.tokens.pruneTokens()).toEqual({ deleted: 1 });
});

test('concurrent prunes delete, count and record each token once', async () => {
  const start = START + 2000 * DAY_MS;
  setClock(start);
  await accounts.tokens.pruneTokens();
  const second = await startService({ mongodbUri: service.mongodbUri });
  try {
    for (let count = 0; count < 5; count += 1) await makeToken(`pruned at once ${count}`, 60);
    setClock(start + 60_000);
    const pruning = [accounts, second.app.exportsOf(accountsPlugin)].map((each) =>
      each.tokens.pruneTokens(),
    );
    const [one, other] = await Promise.all(pruning);
    expect((one?.deleted ?? 0) + (other?.deleted ?? 0)).toBe(5);
    const recorded = await service.app.database.connection
      .collection('auditEntries')
      .countDocuments({ action: 'token.pruned', chain: /pruned at once/ });
    expect(recorded).toBe(5);
  } finally {
    await second.close();
  }
});

test('pruning reads only expired tokens', async () => {
  setClock(START);
  await makeToken('good');
  const queries = await queriesOf(service, () => accounts.tokens.pruneTokens());
  const ofTokens = queries.filter(({ collection }) => collection === 'tokens');
  expect(ofTokens.length).toBeGreaterThan(0);
  for (const { docsExamined, returned } of ofTokens) expect(docsExamined).toBe(returned);
});
