import { record, records } from '../../../test/support/client';
import { backendOf } from '../../../test/support/backend';
import { resetClock, setClock } from '../../../test/support/clock';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import { webhookOf } from './receiver';

let service: TestService;
let shop: TestUser;
let path: string;

beforeEach(async () => {
  // One of its own: reminders look at all accounts. They are told when the tests say so.
  service = await startService({ jobs: false, env: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
  setClock('2026-01-01T00:00:00Z');
  shop = await backendOf(service, 'shop', 360 * 24 * 3600);
  ({ path } = await webhookOf(shop, 'http://127.0.0.1:9/', 'care.due', 'tier.changed'));
});
afterEach(async () => {
  resetClock();
  await service.close();
});

async function run(name: string, signal = new AbortController().signal): Promise<void> {
  const jobs = service.app.plugins.flatMap(({ contribution }) => contribution.jobs ?? []);
  await jobs.find((job) => job.name === name)?.run(signal);
}

/** Has reminders be told at some moments. */
async function tellAt(...moments: readonly string[]): Promise<void> {
  for (const moment of moments) {
    setClock(moment);
    await run('reminders by webhooks');
  }
}

/** What was told of an account, oldest first: its data, without what says of whom. */
async function told(user: TestUser): Promise<Record<string, unknown>[]> {
  const { db } = service.app.database.connection;
  const sort = { createdAt: 1 } as const;
  const found = await db
    ?.collection('webhookDeliveries')
    .find({ userId: user.id }, { sort })
    .toArray();
  return (found ?? []).map(({ body }) => record(record(JSON.parse(String(body)))['data']));
}

async function days(user: TestUser): Promise<unknown[]> {
  return (await told(user)).map(({ today }) => today);
}

async function thirsty(timezone: string, remindAt?: string | null): Promise<TestUser> {
  const user = await service.user({ timezone, expiresInSeconds: 360 * 24 * 3600 });
  if (remindAt !== undefined) await user.patch('/api/account', { remindAt }).expect(200);
  await user.plant({ name: 'Fern', wateringFrequencyDays: 1 });
  return user;
}

test('what is due is told once a day, at the time of the account in its zone', async () => {
  const [oslo, tokyo] = [await thirsty('Europe/Oslo'), await thirsty('Asia/Tokyo', '21:15')];
  await tellAt('2026-01-02T05:59:00Z');
  expect([await told(oslo), await told(tokyo)]).toEqual([[], []]);
  await tellAt('2026-01-02T06:00:20Z', '2026-01-02T06:00:40Z', '2026-01-02T06:05:00Z');
  const item = { plantName: 'Fern', type: 'watered', dueOn: '2026-01-01', daysOverdue: 1 };
  expect(await told(oslo)).toEqual([
    { userId: oslo.id, today: '2026-01-02', count: 1, items: [expect.objectContaining(item)] },
  ]);
  await tellAt('2026-01-02T12:14:00Z');
  expect(await days(tokyo)).toEqual([]);
  await tellAt('2026-01-02T12:16:00Z', '2026-01-03T06:01:00Z', '2026-01-03T12:15:00Z');
  expect([await days(oslo), await days(tokyo)]).toEqual([
    ['2026-01-02', '2026-01-03'],
    ['2026-01-02', '2026-01-03'],
  ]);
});

test('nothing is told where nothing is due, of an account that is never reminded, or of one that is closed', async () => {
  const never = await thirsty('UTC', null);
  const closed = await thirsty('UTC');
  const content = await service.user();
  await content.plant({ name: 'Cactus' });
  await closed.delete('/api/account').send({ confirm: closed.id }).expect(200);
  await tellAt('2026-01-02T06:59:00Z', '2026-01-02T07:00:00Z', '2026-01-02T23:59:00Z');
  for (const user of [never, closed, content]) expect(await told(user)).toEqual([]);
});

test('of many items a message has the first hundred, and their count', async () => {
  const user = await service.user();
  await Promise.all(
    Array.from({ length: 101 }, () => user.plant({ name: 'Fern', wateringFrequencyDays: 1 })),
  );
  await tellAt('2026-01-02T06:59:00Z', '2026-01-02T07:00:00Z');
  const [message] = await told(user);
  expect(message?.['count']).toBe(101);
  expect(records(message?.['items'])).toHaveLength(100);
});

test.each([
  ['does not exist', ['2026-03-29T00:59:00Z', '2026-03-29T01:00:00Z', '2026-03-29T01:31:00Z']],
  ['comes twice', ['2026-10-25T00:29:00Z', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z']],
])('on the day on which its time %s an account is told once', async (_how, moments) => {
  const user = await thirsty('Europe/Oslo', '02:30');
  await tellAt(...moments.slice(0, 2));
  const day = moments[0]?.slice(0, 10);
  expect(await days(user)).toEqual([day]);
  for (let minute = 0; minute < 3; minute += 1) await tellAt(...moments.slice(2));
  expect(await days(user)).toEqual([day]);
});

test('what was missed is told as long as its day lasts', async () => {
  const user = await thirsty('UTC');
  await tellAt('2026-01-02T06:59:00Z', '2026-01-04T09:00:00Z');
  expect(await days(user)).toEqual(['2026-01-04']);
});

test('what was broken off is done anew, and nothing is told twice', async () => {
  const people = [await thirsty('UTC'), await thirsty('UTC')];
  await tellAt('2026-01-02T06:59:00Z');
  setClock('2026-01-02T07:00:00Z');
  await run('reminders by webhooks', AbortSignal.abort());
  const { db } = service.app.database.connection;
  for (let time = 0; time < 2; time += 1) {
    await run('reminders by webhooks');
    const until = new Date('2026-01-02T06:59:00Z');
    await db?.collection('webhookClocks').updateOne({}, { $set: { until } });
  }
  for (const user of people) expect(await days(user)).toEqual(['2026-01-02']);
});

test('what could not be delivered on its day is dropped', async () => {
  const user = await thirsty('UTC');
  await tellAt('2026-01-02T06:59:00Z', '2026-01-02T07:00:00Z');
  await run('delivery of webhooks');
  setClock('2026-01-03T00:00:30Z');
  await run('delivery of webhooks');
  const { items } = bodyOf(await shop.get(`${path}/deliveries`).expect(200));
  expect(items).toMatchObject([{ userId: user.id, status: 'dropped', attempts: 1 }]);
});

test('that a tier has ended is told once', async () => {
  const id = '/api/accounts/ada';
  const until = '2026-02-01T00:00:00Z';
  await shop.put(id, { tier: 'pro', tierUntil: until }).expect(201);
  await tellAt('2026-01-31T23:59:00Z', '2026-02-01T00:00:30Z', '2026-02-01T00:02:00Z');
  const { items } = bodyOf(await shop.get(`${path}/deliveries`).expect(200));
  expect(items).toMatchObject([{ userId: 'ada', type: 'tier.changed' }]);
});
