import { get, type IncomingMessage } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

import type { Context } from 'koa';

import { concurrency, concurrencyLimit } from '../../src/middleware/limits/concurrency';
import { backendOf } from '../support/backend';
import { records } from '../support/client';
import { until } from '../support/processes';
import { begin } from '../support/raw';
import { several } from '../support/several';
import { bodyOf, expectError } from '../support/shapes';
import { letIn } from '../support/sharing';
import type { TestService, TestUser } from '../support/service';
import { startService, storeLargest } from '../support/program';

/** The limit of concurrent reads of an account. */
const MAX_READS = 4;
/** The limit of concurrent exports of all accounts. */
const MAX_EXPORTS = 8;
const operation = { of: 'garden', access: { anyToken: 'a test' } } as const;

let service: TestService;
/** Creates a list of about 9 MB, more than a connection buffers if its client does not read. */
let ada: TestUser;
const untaken: IncomingMessage[] = [];

beforeAll(async () => {
  service = await startService({});
  ada = await service.user();
  await storeLargest(service.app, ada.id, { plants: 300, events: 0 });
});
afterEach(takeNoMore);
afterAll(() => service.close());

function takeNoMore(): void {
  for (const response of untaken.splice(0)) response.destroy();
}

/** Requests a path as a user, in the garden of another if one is given, and does not read the response. */
async function leaveUntaken(user: TestUser, path: string, garden?: TestUser): Promise<void> {
  const headers = {
    authorization: `Bearer ${user.token}`,
    ...(garden && { garden: garden.id }),
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${service.url}${path}`, { headers, agent: false }, resolve).once('error', reject);
  });
  response.on('error', () => undefined);
  untaken.push(response);
  expect(response.statusCode).toBe(200);
}

/** Requests as many lists as may run at once, and reads none of them. */
async function leaveListsUntaken(): Promise<void> {
  await Promise.all(Array.from({ length: MAX_READS }, () => leaveUntaken(ada, '/api/plants')));
}

test('if clients of an account do not read their responses, only that account has to wait', async () => {
  await leaveListsUntaken();
  let isAnswered = false;
  const waiting = ada.get('/api/locations').then(({ status }) => {
    isAnswered = true;
    return status;
  });
  const bob = await service.user();
  await bob.get('/api/plants').expect(200);
  await ada.plant();
  await sleep(200);
  expect(isAnswered).toBe(false);
  takeNoMore();
  expect(await waiting).toBe(200);
});

test('members of a garden that do not read their responses do not make its owner wait', async () => {
  const ben = await service.user();
  await letIn(ada, ben);
  await several(MAX_READS, () => leaveUntaken(ben, '/api/plants', ada));
  await leaveUntaken(ben, '/api/export', ada);
  await ada.get('/api/locations').expect(200);
  await ada.get('/api/export').expect(200);
});

test('what a member waited for is not read once the membership has ended', async () => {
  const ben = await service.user();
  const id = await letIn(ada, ben);
  await several(MAX_READS, () => leaveUntaken(ben, '/api/plants', ada));
  const members = service.app.database.connection.collection('members');
  const seen = { account: ben.id, lastSeenAt: { $ne: null } };
  const forget = () => members.updateOne(seen, { $set: { lastSeenAt: null } });
  await until(async () => (await forget()).matchedCount === 1);
  const waiting = ben
    .get('/api/locations')
    .set('Garden', ada.id)
    .then((answer) => answer);
  await until(async () => (await members.countDocuments(seen)) === 1);
  await ada.delete(`/api/account/members/${id}`).expect(200);
  takeNoMore();
  expectError(await waiting, 404, 'garden_not_found');
});

test('an import of a member whose body does not arrive does not make the owner wait', async () => {
  const ben = await service.user();
  const id = await letIn(ada, ben, { role: 'gardener' });
  const plants = { plants: [{ name: 'Fern' }] };
  const finish = begin(service.url, 'POST', '/api/import?dryRun=true', {
    headers: {
      Authorization: `Bearer ${ben.token}`,
      'Content-Type': 'application/json',
      Garden: ada.id,
    },
    body: JSON.stringify(plants),
  });
  const seen = async () =>
    records(bodyOf(await ada.get('/api/account/members').expect(200))['items']).some(
      (each) => each['id'] === id && each['lastSeenAt'] !== null,
    );
  await until(seen);
  await ada.post('/api/import?dryRun=true', plants).expect(200);
  expect((await finish()).status).toBe(200);
});

test('a client that disconnects leaves the queue', async () => {
  await leaveListsUntaken();
  const gone = Array.from({ length: 50 }, async () => {
    await fetch(`${service.url}/api/plants`, {
      headers: { authorization: `Bearer ${ada.token}` },
      signal: AbortSignal.timeout(100),
    }).catch(() => undefined);
  });
  await Promise.all(gone);
  takeNoMore();
  await ada.get('/api/locations').expect(200);
});

test('slow clients of exports hold up other exports, until they disconnect, and nothing else', async () => {
  const users = await Promise.all(Array.from({ length: MAX_EXPORTS + 1 }, () => service.user()));
  for (const user of users) await storeLargest(service.app, user.id, { plants: 300, events: 0 });
  const [late, ...early] = users;
  if (!late) throw new Error('There are no users.');
  const paths = ['/api/export', '/api/account/export'];
  // A part of a garden fits into the buffers of the system.
  await Promise.all(early.map((user) => leaveUntaken(user, '/api/account/export')));
  const shop = await backendOf(service, 'shop');
  await shop.put('/api/accounts/eve').send({}).expect(201);
  const refused = await Promise.all([
    ...paths.map((path) => late.get(path)),
    shop.get('/api/accounts/eve/export'),
  ]);
  for (const answer of refused) {
    expectError(answer, 503, 'service_unavailable');
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  }
  await late.get('/api/plants').expect(200);
  await early[0]?.get('/api/locations').expect(200);
  takeNoMore();
  for (const path of paths) await late.get(path).expect(200);
  await shop.get('/api/accounts/eve/export').expect(200);
}, 60_000);

/** A call of one account; `sent` resolves when its response has been sent. */
function callOf(sent: Promise<void>): Context {
  // It uses nothing else.
  return { state: { sent, principal: { account: { id: 'ada' } } } } as unknown as Context;
}

const never = () => new Promise<void>(() => undefined);

test('a call that waits for 10 s gets 503', async () => {
  jest.useFakeTimers();
  try {
    const step = concurrency(concurrencyLimit({ perAccount: 1, total: 1 }), operation);
    void step(callOf(never()), never);
    let fault: unknown;
    void (async () => {
      await step(callOf(never()), never);
    })().catch((error: unknown) => (fault = error));
    await jest.advanceTimersByTimeAsync(9999);
    expect(fault).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    const headers = { 'Retry-After': expect.stringMatching(/^[1-9]\d*$/) as string };
    expect(fault).toMatchObject({ status: 503, headers, body: { code: 'service_unavailable' } });
  } finally {
    jest.useRealTimers();
  }
});

test('a client has five minutes to take an export', async () => {
  jest.useFakeTimers();
  try {
    const limit = concurrencyLimit({ perAccount: 1, total: 1, maxSendMs: 300_000 });
    const destroy = jest.fn();
    const call = { ...callOf(never()), res: { destroy } } as unknown as Context;
    await limit(call, 'ada', async () => undefined);
    await jest.advanceTimersByTimeAsync(299_999);
    expect(destroy).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(destroy).toHaveBeenCalledTimes(1);
  } finally {
    jest.useRealTimers();
  }
});

test('a call that has begun is finished even if its client disconnects', async () => {
  let leave: () => void = () => undefined;
  const sent = new Promise<void>((resolve) => (leave = resolve));
  let finish: () => void = () => undefined;
  const step = concurrency(concurrencyLimit({ perAccount: 1, total: 1 }), operation);
  const done = new Promise<void>((resolve) => (finish = resolve));
  const called = (async () => {
    await step(callOf(sent), () => done);
  })();
  await setImmediate();
  leave();
  await setImmediate();
  finish();
  await called;
});

test('many concurrent calls of one account all get responses', async () => {
  const user = await service.user();
  const made = await Promise.all(Array.from({ length: 150 }, () => user.plant()));
  expect(new Set(made.map(({ id }) => id)).size).toBe(150);
  const lists = await Promise.all(Array.from({ length: 100 }, () => user.get('/api/locations')));
  expect(new Set(lists.map(({ status }) => status))).toEqual(new Set([200]));
});
