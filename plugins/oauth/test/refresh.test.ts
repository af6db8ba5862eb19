import { hashOf } from '../../../src/core/identity';
import { resetClock, setClock } from '../../../test/support/clock';
import { startService, userOf } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import { person, type Person } from './support/people';
import { Phone, type Tokens } from './support/phone';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The window of the budget of a grant. */
const WINDOW_MS = 10 * MINUTE_MS;

let service: TestService;
let ada: Person;
let phone: Phone;
beforeAll(async () => {
  service = await startService();
  ada = await person(service);
});
beforeEach(async () => {
  phone = await Phone.register(service, ada);
});
afterEach(resetClock);
afterAll(() => service.close());

function stored() {
  return service.app.database.connection.collection('oauthState');
}

async function refreshed(token: string): Promise<Tokens> {
  return bodyOf(await phone.refresh(token).expect(200)) as unknown as Tokens;
}

async function isRefused(token: string): Promise<void> {
  expect(bodyOf(await phone.refresh(token).expect(400))['error']).toBe('invalid_grant');
}

/** The status of a request with an access token. */
async function statusOf({ access_token: token }: Tokens): Promise<number> {
  return (await userOf(service.url, ada.name, token).get('/api/plants')).status;
}

/** Several answers to one refresh. */
async function repeated(times: number): Promise<Tokens[]> {
  const { refresh_token: token } = await phone.tokens();
  const answers: Tokens[] = [];
  while (answers.length < times) answers.push(await refreshed(token));
  return answers;
}

test('when the owner uses a new token, the one that a thief got for the same is dead, and ends the grant', async () => {
  const [owners, thiefs] = (await repeated(2)) as [Tokens, Tokens];
  expect([await statusOf(owners), await statusOf(thiefs)]).toEqual([200, 200]);
  const next = await refreshed(owners.refresh_token);
  expect(await Promise.all([owners, thiefs, next].map(statusOf))).toEqual([200, 401, 200]);
  await isRefused(thiefs.refresh_token);
  expect(await Promise.all([owners, next].map(statusOf))).toEqual([401, 401]);
  await isRefused(next.refresh_token);
});

test('when the thief is first, the token of the owner is dead, and ends the grant', async () => {
  const [owners, thiefs] = (await repeated(2)) as [Tokens, Tokens];
  const next = await refreshed(thiefs.refresh_token);
  expect(await statusOf(owners)).toBe(401);
  await isRefused(owners.refresh_token);
  expect(await Promise.all([thiefs, next].map(statusOf))).toEqual([401, 401]);
  await isRefused(next.refresh_token);
});

test('of three answers to one refresh any may be used, and only one', async () => {
  for (const used of [0, 1, 2]) {
    const siblings = await repeated(3);
    const next = await refreshed(siblings[used]?.refresh_token ?? '');
    const statuses = siblings.map((_, index) => (index === used ? 200 : 401));
    expect(await Promise.all(siblings.map(statusOf))).toEqual(statuses);
    expect(await statusOf(next)).toBe(200);
    // The next one is as good as any.
    const after = await refreshed(next.refresh_token);
    await isRefused(siblings[(used + 1) % 3]?.refresh_token ?? '');
    expect(await statusOf(after)).toBe(401);
  }
});

test('used at once, the answers to one refresh leave no valid token', async () => {
  const siblings = await repeated(4);
  const answers = await Promise.all(siblings.map((each) => phone.refresh(each.refresh_token)));
  const given = answers.filter(({ status }) => status === 200);
  expect(given.length).toBeLessThan(2);
  for (const answer of given) {
    const tokens = bodyOf(answer) as unknown as Tokens;
    expect(await statusOf(tokens)).toBe(401);
    await isRefused(tokens.refresh_token);
  }
});

test('a lost answer may be repeated, and the repeated one goes on', async () => {
  const { refresh_token: token } = await phone.tokens();
  await refreshed(token);
  setClock(Date.now() + 29 * SECOND_MS);
  let { refresh_token: next } = await refreshed(token);
  for (let times = 0; times < 3; times += 1) ({ refresh_token: next } = await refreshed(next));
  await isRefused(token);
  await isRefused(next);
});

test('a grant has 30 refreshes in ten minutes, repeats included', async () => {
  const start = Math.ceil(Date.now() / WINDOW_MS) * WINDOW_MS;
  setClock(start);
  const { refresh_token: token } = await phone.tokens();
  const answers: Awaited<ReturnType<Phone['refresh']>>[] = [];
  for (let times = 0; times < 100; times += 1) answers.push(await phone.refresh(token));
  const given = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status !== 200);
  expect([given.length, refused.length]).toEqual([30, 70]);
  for (const answer of refused) {
    expect([answer.status, answer.get('Retry-After')]).toEqual([429, '600']);
    expect(bodyOf(answer)).toEqual({
      error: 'temporarily_unavailable',
      error_description: 'This app has refreshed its tokens too often.',
      code: 'rate_limited',
    });
  }
  // Another grant has its own.
  await refreshed((await phone.tokens()).refresh_token);
  setClock(start + WINDOW_MS);
  const last = bodyOf(given.at(-1) ?? { body: {} }) as unknown as Tokens;
  await refreshed(last.refresh_token);
  expect(await statusOf(last)).toBe(200);
});

test('few used tokens are stored, and for two weeks at most', async () => {
  let now = Date.now();
  const { name } = await person(service);
  const other = new Phone(service, { ...ada, name }, phone.clientId);
  let { refresh_token: token } = await other.tokens();
  for (let times = 0; times < 60; times += 1) {
    if (times % 20 === 0) setClock((now += WINDOW_MS));
    ({ refresh_token: token } = bodyOf(
      await phone.refresh(token).expect(200),
    ) as unknown as Tokens);
  }
  const left = await stored().find({ userId: name, kind: 'RefreshToken' }).toArray();
  const used = left.filter(({ consumedAt }) => consumedAt !== undefined);
  expect([left.length, used.length]).toEqual([3, 2]);
  for (const { expiresAt } of used) {
    expect((expiresAt as Date).getTime()).toBeLessThanOrEqual(now + 14 * DAY_MS);
  }
});

test('a used token ends the grant even when its record is gone', async () => {
  const first = await phone.tokens();
  const second = await refreshed(first.refresh_token);
  const third = await refreshed(second.refresh_token);
  for (const old of [first, second]) {
    setClock(Date.now() + 15 * DAY_MS);
    // As MongoDB does.
    await stored().deleteMany({ kind: 'RefreshToken', expiresAt: { $lte: new Date() } });
    expect(await stored().findOne({ _id: hashOf(old.refresh_token) as never })).toBeNull();
  }
  const last = await refreshed(third.refresh_token);
  await isRefused(second.refresh_token);
  expect(await statusOf(last)).toBe(401);
  await isRefused(last.refresh_token);
});

test('a made-up token ends nothing', async () => {
  const tokens = await phone.tokens();
  const [id = '', grant = ''] = tokens.refresh_token.split('.');
  const guesses = ['x', '.', `x.${hashOf(grant)}`, `${id}.x`, `${id}.`, `.${grant.slice(1)}`];
  for (const guess of guesses) await isRefused(guess);
  expect(await statusOf(tokens)).toBe(200);
  await refreshed(tokens.refresh_token);
});

describe('a token of release 1.2.0, which does not name its grant', () => {
  /** Gives a stored refresh token the form of that release. */
  async function older(token: string, name: string): Promise<void> {
    const {
      _id,
      from: _from,
      ...document
    } = (await stored().findOne({
      _id: hashOf(token) as never,
    })) as unknown as Record<string, unknown>;
    await stored().deleteOne({ _id: _id as never });
    await stored().insertOne({ ...document, _id: hashOf(name) as never });
  }

  test('is refreshed, and ends the grant when it is used again', async () => {
    const tokens = await phone.tokens();
    const old = `old-${tokens.refresh_token.slice(0, 20)}`;
    await older(tokens.refresh_token, old);
    const second = await refreshed(old);
    const third = await refreshed(second.refresh_token);
    await isRefused(old);
    expect(await statusOf(third)).toBe(401);
    await isRefused(third.refresh_token);
  });

  test('and another for the same end each other', async () => {
    const [one, two] = (await repeated(2)) as [Tokens, Tokens];
    const names = [one, two].map(({ refresh_token: token }) => `old-${token.slice(0, 20)}`);
    for (const [index, { refresh_token: token }] of [one, two].entries()) {
      await older(token, names[index] ?? '');
    }
    const next = await refreshed(names[0] ?? '');
    await isRefused(names[1] ?? '');
    expect(await statusOf(next)).toBe(401);
  });
});
