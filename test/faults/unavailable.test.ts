import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { mongo } from 'mongoose';
import type { Response } from 'supertest';

import { scrape, valueOf } from '../support/metrics';
import type { ProxiedService } from '../support/proxied-service';
import { errorOf } from '../support/raw';
import type { TestService, TestUser } from '../support/service';
import type { TcpProxy } from '../support/tcp-proxy';
import { startProxiedService, storeLargest, until } from '../support/program';

let proxied: ProxiedService;
let proxy: TcpProxy;
let service: TestService;
let user: TestUser;

beforeAll(async () => {
  proxied = await startProxiedService();
  ({ service, proxy } = proxied);
});
beforeEach(async () => {
  user = await service.user();
});
afterEach(async () => {
  proxy.restore();
  await until(async () => (await service.anonymous.get('/readyz')).status === 200);
});
afterAll(() => proxied.close());

/** Reads only the user's account slowly, since MongoDB would take as long for each account. */
function slowRead(ms: number, options: mongo.FindOneOptions = {}): Promise<unknown> {
  const accounts = service.app.database.connection.collection<{ _id: string }>('accounts');
  return accounts.findOne({ _id: user.id, $where: `sleep(${ms}) || true` }, options);
}

async function figure(name: string): Promise<number> {
  return valueOf(await scrape(service.url), `plantcare_${name}`) ?? NaN;
}

function expectUnavailable(answer: Response): void {
  expect(answer.status).toBe(503);
  expect(errorOf({ body: answer.text }).code).toBe('service_unavailable');
  expect(answer.get('Retry-After')).toMatch(/^[1-9]\d*$/);
  expect(answer.get('X-Request-Id')).toBeDefined();
}

test('while MongoDB is down, apps and people who sign in are asked to try again', async () => {
  await service.anonymous.get('/.well-known/oauth-authorization-server').expect(200);
  proxy.fail('cut');
  const form = { grant_type: 'refresh_token', refresh_token: 'x', token: 'x', client_id: 'nobody' };
  const { anonymous } = service;
  for (const answer of await Promise.all([
    anonymous.post('/oauth/token').type('form').send(form),
    anonymous.post('/oauth/revoke').type('form').send(form),
    anonymous.post('/oauth/register').send({ redirect_uris: ['http://127.0.0.1/callback'] }),
  ])) {
    expect([answer.status, answer.get('Retry-After')]).toEqual([503, '1']);
    const [error, code] = ['temporarily_unavailable', 'service_unavailable'];
    expect(answer.body).toMatchObject({ error, code });
  }
  const page = await anonymous.get('/oauth/authorize?client_id=nobody').expect(503);
  expect([page.type, page.get('Retry-After')]).toEqual(['text/html', '1']);
});

test('while MongoDB is down, requests get 503, and afterwards succeed', async () => {
  const plant = await user.plant();
  proxy.fail('cut');
  const reads = ['/api/plants', `/api/plants/${plant.id}`, '/api/insights', '/api/announcements'];
  const answers = await Promise.all(reads.map((path) => user.get(path)));
  for (const answer of answers) expectUnavailable(answer);
  await service.anonymous.get('/healthz').expect(200);
  const ready = await service.anonymous.get('/readyz').expect(503);
  expectUnavailable(ready);
  expect(ready.body).toMatchObject({ error: 'MongoDB cannot be reached.' });
  expect(await figure('mongodb_up')).toBe(0);
  await service.anonymous.get('/api/plants').expect(401);

  proxy.restore();
  await until(async () => (await user.get('/api/plants')).status === 200);
  const after = await user.get('/api/plants').expect(200);
  expect(after.body).toMatchObject([{ id: plant.id }]);
});

test('while MongoDB hangs, reads get 503 without waiting for it', async () => {
  const plant = await user.plant();
  proxy.fail('black hole');
  for (const path of ['/api/plants', '/api/insights', '/api/plants', '/api/announcements']) {
    expectUnavailable(await user.get(path));
  }
  expectUnavailable(await service.anonymous.get('/readyz'));
  proxy.restore();
  await until(async () => (await user.get('/api/plants')).status === 200);
  expect((await user.get(`/api/plants/${plant.id}`).expect(200)).body).toEqual(plant);
});

test('while MongoDB hangs, the commands that wait for a connection are counted', async () => {
  proxy.fail('black hole');
  // More than the limit of connections.
  const asked = Array.from({ length: 60 }, () => service.app.database.ping());
  await until(async () => (await figure('mongodb_connection_waiters')) > 0);
  proxy.restore();
  await Promise.all(asked);
  await until(async () => (await figure('mongodb_connection_waiters')) === 0);
});

test.each([
  ['one account', 1],
  ['eight accounts', 8],
])(
  'while MongoDB hangs, writes of %s get 503, and a retry with the same key has one effect',
  async (_whose, accounts) => {
    const users = await Promise.all(Array.from({ length: accounts }, () => service.user()));
    const plants = await Promise.all(users.map((each) => each.plant()));
    const send = async (key: number) => {
      const path = `/api/plants/${plants[key % accounts]?.id}/events`;
      return users[key % accounts]?.post(path).set('Idempotency-Key', String(key));
    };
    const keys = Array.from({ length: 40 }, (_, key) => key);
    const sends = keys.map(send);
    // The first response has arrived, so the next writes are in progress.
    await Promise.race(sends);
    proxy.fail('black hole');
    const answers = await Promise.all(sends);
    const lost = keys.filter((key) => answers[key]?.status !== 201);
    expect(lost).not.toEqual([]);
    for (const key of lost) if (answers[key]) expectUnavailable(answers[key]);
    proxy.restore();
    for (const key of lost) await until(async () => (await send(key))?.status === 201);
    for (const each of users) {
      const insights = await each.get('/api/insights').expect(200);
      expect(insights.body).toMatchObject({ overview: { totalEvents: keys.length / accounts } });
    }
  },
);

test('if MongoDB hangs while a key is looked up, the request waits no longer than a read', async () => {
  const plant = await user.plant();
  const path = `/api/plants/${plant.id}/events`;
  proxy.onCommand(({ collection }) => {
    if (collection === 'keptAnswers') proxy.fail('black hole');
    return undefined;
  });
  const start = performance.now();
  expectUnavailable(await user.post(path).set('Idempotency-Key', 'a key'));
  // With a margin for a slow machine.
  expect(performance.now() - start).toBeLessThan(7000);
});

test('a write that timed out before its commit has no effect later', async () => {
  const plants = service.app.database.connection.collection('plants');
  const add = (name: string, before: () => void) =>
    service.app.writeQueue.run(user.id, async ({ session, userId }) => {
      before();
      await plants.insertOne({ userId, name }, { session });
    });
  const given = add('given up', () => {
    proxy.fail('black hole');
  });
  // It is queued behind the other and has not begun.
  const waiting = add('waiting', () => undefined);
  for (const write of [given, waiting]) await expect(write).rejects.toMatchObject({ status: 503 });
  proxy.restore();
  await until(() =>
    add('later', () => undefined).then(
      () => true,
      () => false,
    ),
  );
  const found = await plants.find({ userId: user.id }).toArray();
  expect(new Set(found.map(({ name }) => String(name)))).toEqual(new Set(['later']));
});

test('a slow write does not fail while MongoDB responds to others', async () => {
  const slow = service.app.writeQueue.run(user.id, ({ session }) => slowRead(4500, { session }));
  await expect(slow).resolves.toMatchObject({ _id: user.id });
});

test('a slow read does not fail while MongoDB responds to others', async () => {
  await user.plant();
  let isLost = false;
  proxy.onCommand(({ collection }) => {
    if (collection !== 'plants' || isLost) return undefined;
    isLost = true;
    return 'black hole';
  });
  // The lost command is retried on another connection, after longer than MongoDB may take to respond.
  const list = await user.get('/api/plants').expect(200);
  expect(list.body).toHaveLength(1);
  expect(isLost).toBe(true);
});

test('a 503 is not stored: the retry with the same key takes effect', async () => {
  const send = () => user.post('/api/plants', { name: 'Ivy' }).set('Idempotency-Key', 'k');
  proxy.fail('cut');
  expectUnavailable(await send());
  proxy.restore();
  let answer: Response | undefined;
  await until(async () => (answer = await send()).status !== 503);
  expect(answer?.status).toBe(201);
  expect(answer?.headers).not.toHaveProperty('idempotent-replayed');
  const list = await user.get('/api/plants').expect(200);
  expect(list.body).toHaveLength(1);
});

describe.each(['before', 'after'] as const)('a connection that breaks %s MongoDB has', (when) => {
  test.each([
    ['the account', 'findAndModify', 'accounts'],
    ['the plant', 'update', 'plants'],
    ['the event', 'insert', 'events'],
    ['the day counts', 'update', 'careMonths'],
    ['the growth', 'update', 'growth'],
    ['the response to store', 'update', 'keptAnswers'],
    ['the commit', 'commitTransaction', undefined],
  ])('%s of a write does not lose it', async (_what, command, collection) => {
    const plant = await user.plant();
    const path = `/api/plants/${plant.id}/events`;
    const growth = { type: 'growth', growthAmount: 2, growthUnit: 'cm' };
    await user.post(path, growth).expect(201);
    const hasBroken = proxy.breakAt(command, when, collection);
    // In progress when connections break, and so the first to notice.
    const first = slowRead(300);
    let answer: Response | undefined;
    await until(async () => {
      answer = await user.post(path, growth).set('Idempotency-Key', 'k');
      return answer.status !== 503;
    });
    expect(answer?.status).toBe(201);
    await first;
    expect(hasBroken()).toBe(true);
    const insights = await user.get('/api/insights').expect(200);
    expect(insights.body).toMatchObject({
      overview: { totalEvents: 2 },
      growthTracking: [{ total: 4, measurements: 2 }],
    });
  });
});

test('a write with an unknown outcome is not repeated with others of its transaction', async () => {
  const plant = await user.plant();
  const log = (text: string) =>
    user.post(`/api/plants/${plant.id}/events`, { text }).then((answer) => answer);
  proxy.loseAnswersTo('commitTransaction');
  const first = log('first');
  await sleep(500);
  // These wait for the first one and then share a transaction.
  const second = log('second');
  await sleep(3000);
  const third = log('third');
  const answers = [await first, await second];
  proxy.restore();
  answers.push(await third);
  const list = await user.get(`/api/plants/${plant.id}/events`).expect(200);
  const texts = (list.body as { items: { text: string }[] }).items.map(({ text }) => text);
  expect(texts.sort()).toEqual([...new Set(texts)]);
  expect(answers[0]?.status).toBe(503);
  for (const answer of answers) if (answer.status !== 201) expectUnavailable(answer);
});

test('a connection that breaks during a ping does not count as an outage', async () => {
  const hasBroken = proxy.breakAt('ping', 'before');
  await service.anonymous.get('/readyz').expect(200);
  expect(hasBroken()).toBe(true);
});

test('a connection that is lost silently during a ping does not count as an outage', async () => {
  const before = service.logged.length;
  let pings = 0;
  proxy.onCommand(({ name }) => {
    if (name !== 'ping') return undefined;
    pings += 1;
    return pings === 1 ? 'black hole' : undefined;
  });
  await until(() => pings === 4);
  expect(service.logged.slice(before).join('')).not.toContain('MongoDB does not respond');
});

test.each([
  ['the first read', 'find', 'removedPlants'],
  ['one of several reads', 'find', 'careMonths'],
  ['the last read', 'find', 'growth'],
  ['the commit', 'commitTransaction', undefined],
])('insights are returned although connections break at %s', async (_what, command, collection) => {
  const plant = await user.plant();
  await user.event(plant.id);
  const hasBroken = proxy.breakAt(command, 'before', collection);
  const insights = await user.get('/api/insights').expect(200);
  expect(hasBroken()).toBe(true);
  expect(insights.body).toMatchObject({ overview: { totalEvents: 1 } });
});

test('a long response whose rest cannot be read is cut off, not left open', async () => {
  await storeLargest(service.app, user.id, { plants: 500, events: 1 });
  const before = service.logged.length;
  const headers = { authorization: `Bearer ${user.token}` };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${service.url}/api/plants`, { headers, agent: false }, resolve).once('error', reject);
  });
  expect(answer.statusCode).toBe(200);
  proxy.fail('cut');
  const reading = async (): Promise<void> => {
    for await (const chunk of answer) expect(chunk).toBeDefined();
  };
  await expect(reading()).rejects.toThrow('aborted');
  expect(service.logged.slice(before).join('')).toMatch(
    /MongoDB does not respond|database is unavailable/,
  );
});

test('writes that are retried after the connection to MongoDB was cut have one effect each', async () => {
  const plant = await user.plant();
  const write = (index: number) =>
    user
      .post(`/api/plants/${plant.id}/events`, { text: String(index) })
      .set('Idempotency-Key', String(index))
      .then((answer) => answer);
  const indexes = Array.from({ length: 30 }, (_, index) => index);
  const sends = indexes.map(write);
  // The first response has arrived, so the next writes are in progress.
  await Promise.race(sends);
  proxy.fail('cut');
  proxy.restore();
  for (const [index, answer] of (await Promise.all(sends)).entries()) {
    let last = answer;
    if (last.status === 503) {
      expectUnavailable(last);
      await until(async () => (last = await write(index)).status !== 503);
    }
    expect(last.status).toBe(201);
  }
  const list = await user.get(`/api/plants/${plant.id}/events?limit=100`).expect(200);
  const kept = (list.body as { items: { text: string }[] }).items.map(({ text }) => Number(text));
  expect(kept.sort((a, b) => a - b)).toEqual(indexes);
  const insights = await user.get('/api/insights').expect(200);
  expect(insights.body).toMatchObject({ overview: { totalEvents: indexes.length } });
});
