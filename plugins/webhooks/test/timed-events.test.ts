import { backendOf } from '../../../test/support/backend';
import { record, records } from '../../../test/support/client';
import { resetClock, runJobsAt, setClock } from '../../../test/support/clock';
import { until } from '../../../test/support/processes';
import {
  commandsDuring,
  filtersOf,
  startProxiedService,
  startService,
} from '../../../test/support/program';
import type { ProxiedService } from '../../../test/support/proxied-service';
import type { TestService, TestUser } from '../../../test/support/service';
import { Receiver, webhookOf } from './receiver';

let proxied: ProxiedService;
let service: TestService;
let shop: TestUser;
let receiver: Receiver;

beforeAll(async () => {
  // In the future: MongoDB deletes expired deliveries by its own clock.
  setClock('2037-01-01T00:00:00Z');
  // Without its jobs, so that reminders come when a test says so.
  proxied = await startProxiedService({ jobs: false, env: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
  ({ service } = proxied);
  shop = await backendOf(service, 'shop', 360 * 24 * 3600);
  receiver = await Receiver.start();
  await webhookOf(shop, receiver.url, 'care.due', 'tier.changed');
});
beforeEach(async () => {
  setClock('2037-01-01T00:00:00Z');
  await collection('webhookClocks').deleteMany({});
  // Reminders of accounts of other tests would take their time.
  await collection('accounts').updateMany({}, { $set: { remindAt: null } });
});
afterAll(async () => {
  resetClock();
  await receiver.close();
  await proxied.close();
});

function collection(name: string) {
  return service.app.database.connection.collection(name);
}

/** Runs the jobs at some moments. */
function runAt(...moments: readonly string[]): Promise<void> {
  return runJobsAt(service, ['webhook tiers', 'webhook reminders'], moments);
}

/** The deliveries about an account, oldest first. */
async function deliveriesOf(id: string) {
  const found = collection('webhookDeliveries').find({ userId: id }).sort({ createdAt: 1 });
  return (await found.toArray()).map(({ type, status, attempts, createdAt, body }) => ({
    type: String(type),
    status: String(status),
    attempts: Number(attempts),
    createdAt: createdAt as Date, // As it is stored.
    data: record(record(JSON.parse(String(body)))['data']),
  }));
}

async function days({ id }: TestUser): Promise<unknown[]> {
  return (await deliveriesOf(id)).map(({ data }) => data['today']);
}

async function thirsty(timezone: string, remindAt?: string | null): Promise<TestUser> {
  const user = await service.user({ timezone, expiresInSeconds: 360 * 24 * 3600 });
  if (remindAt !== undefined) await user.patch('/api/account', { remindAt }).expect(200);
  await user.plant({ name: 'Fern', wateringFrequencyDays: 1 });
  return user;
}

test('due care is sent once a day, at the remindAt of the account in its zone', async () => {
  const [oslo, tokyo] = [await thirsty('Europe/Oslo'), await thirsty('Asia/Tokyo', '21:15')];
  await runAt('2037-01-02T05:59:00Z');
  expect([await days(oslo), await days(tokyo)]).toEqual([[], []]);
  await runAt('2037-01-02T06:00:20Z', '2037-01-02T06:00:40Z', '2037-01-02T06:05:00Z');
  const item = { plantName: 'Fern', type: 'watered', dueOn: '2037-01-01', daysOverdue: 1 };
  expect((await deliveriesOf(oslo.id)).map(({ data }) => data)).toEqual([
    { userId: oslo.id, today: '2037-01-02', count: 1, items: [expect.objectContaining(item)] },
  ]);
  await runAt('2037-01-02T12:14:00Z');
  expect(await days(tokyo)).toEqual([]);
  await runAt('2037-01-02T12:16:00Z', '2037-01-03T06:01:00Z', '2037-01-03T12:15:00Z');
  expect([await days(oslo), await days(tokyo)]).toEqual([
    ['2037-01-02', '2037-01-03'],
    ['2037-01-02', '2037-01-03'],
  ]);
});

test('nothing is sent if nothing is due, if remindAt is null, or if the account is closed', async () => {
  const never = await thirsty('UTC', null);
  const closed = await thirsty('UTC');
  const content = await service.user();
  await content.plant({ name: 'Cactus' });
  await closed.delete('/api/account').send({ confirm: closed.id }).expect(200);
  await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z', '2037-01-02T23:59:00Z');
  for (const { id } of [never, closed, content]) expect(await deliveriesOf(id)).toEqual([]);
});

test('a delivery has the first hundred items, and the count of all', async () => {
  const user = await service.user();
  await Promise.all(
    Array.from({ length: 101 }, () => user.plant({ name: 'Fern', wateringFrequencyDays: 1 })),
  );
  await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z');
  const [delivery] = await deliveriesOf(user.id);
  expect(delivery?.data['count']).toBe(101);
  expect(records(delivery?.data['items'])).toHaveLength(100);
});

test.each([
  ['a skipped time', 'Europe/Oslo', '02:30', '2037-03-29T00:59:00Z', '2037-03-29T01:00:00Z'],
  ['a repeated time', 'Europe/Oslo', '02:30', '2037-10-25T00:29:00Z', '2037-10-25T00:30:00Z'],
  ['half an hour', 'Asia/Kolkata', '07:00', '2037-03-02T01:29:00Z', '2037-03-02T01:30:00Z'],
  ['three quarters', 'Asia/Kathmandu', '07:00', '2037-03-02T01:14:00Z', '2037-03-02T01:15:00Z'],
  // Clocks go back by half an hour at 02:00.
  ['by 30 min', 'Australia/Lord_Howe', '01:45', '2037-04-04T14:44:00Z', '2037-04-04T14:45:00Z'],
  ['a skipped midnight', 'Africa/Cairo', '00:00', '2037-04-23T21:59:00Z', '2037-04-23T22:00:00Z'],
  ['midnight', 'America/Lima', '00:00', '2037-04-23T04:59:00Z', '2037-04-23T05:00:00Z'],
  ['the last minute', 'America/Lima', '23:59', '2037-04-24T04:58:00Z', '2037-04-24T04:59:00Z'],
])('due care is sent once on a day: %s', async (_case, timezone, time, before, at) => {
  const user = await thirsty(timezone, time);
  await runAt(before);
  expect(await days(user)).toEqual([]);
  await runAt(at);
  const dayOf = (moment: Date) => moment.toLocaleDateString('en-CA', { timeZone: timezone });
  const day = dayOf(new Date(at));
  expect(await days(user)).toEqual([day]);
  for (const minutes of [1, 30, 31, 60, 61]) {
    const later = new Date(Date.parse(at) + minutes * 60_000);
    if (dayOf(later) === day) await runAt(later.toISOString());
  }
  expect(await days(user)).toEqual([day]);
});

test('changing the zone or time on the same day causes no second delivery', async () => {
  const user = await thirsty('Pacific/Auckland');
  await runAt('2037-01-01T17:59:00Z', '2037-01-01T18:00:00Z');
  await user.patch('/api/account', { remindAt: '07:30' }).expect(200);
  await runAt('2037-01-01T18:30:00Z');
  await user.patch('/api/account', { timezone: 'Asia/Kathmandu' }).expect(200);
  await runAt('2037-01-02T01:44:00Z', '2037-01-02T01:46:00Z');
  await user.patch('/api/account', { timezone: 'Pacific/Honolulu', remindAt: '23:00' }).expect(200);
  await runAt('2037-01-03T08:59:00Z', '2037-01-03T09:01:00Z');
  expect(await days(user)).toEqual(['2037-01-02']);
  await runAt('2037-01-04T08:59:00Z', '2037-01-04T09:01:00Z');
  expect(await days(user)).toEqual(['2037-01-02', '2037-01-03']);
});

test('a reminder that was missed is sent while its day lasts', async () => {
  const user = await thirsty('UTC');
  await runAt('2037-01-02T06:59:00Z', '2037-01-04T09:00:00Z');
  expect(await days(user)).toEqual(['2037-01-04']);
});

test('interrupted reminders are continued, and none is sent twice', async () => {
  const people = [await thirsty('UTC'), await thirsty('UTC')];
  await runAt('2037-01-02T06:59:00Z');
  setClock('2037-01-02T07:00:00Z');
  await service.runJob('webhook reminders', AbortSignal.abort());
  for (let time = 0; time < 2; time += 1) {
    const commands = await commandsDuring(proxied.proxy, () => service.runJob('webhook reminders'));
    const reads = JSON.stringify(commands.map(filtersOf));
    // The second time, their plants are not read.
    for (const { id } of people) expect(reads.includes(id)).toBe(time === 0);
    const until = new Date('2037-01-02T06:59:00Z');
    await collection('webhookClocks').updateMany({}, { $set: { until } });
  }
  for (const user of people) expect(await days(user)).toEqual(['2037-01-02']);
});

test('reminders that take until the next day do not replace those of that day', async () => {
  const people = await Promise.all(Array.from({ length: 5 }, () => thirsty('UTC', '23:59')));
  await runAt('2037-01-02T23:58:00Z');
  setClock('2037-01-02T23:59:55Z');
  const running = service.runJob('webhook reminders');
  const userId = { $in: people.map(({ id }) => id) };
  await until(async () => (await collection('webhookDeliveries').findOne({ userId })) !== null, 1);
  // Soon enough for the lease to last.
  setClock('2037-01-03T00:00:03Z');
  await running;
  await runAt('2037-01-03T23:59:00Z');
  for (const { id } of people) {
    const last = (await deliveriesOf(id)).at(-1);
    expect(last?.data['today']).toBe('2037-01-03');
    expect(last?.createdAt).toEqual(new Date('2037-01-03T23:59:00Z'));
  }
});

test('an account that is closed while others are reminded is sent nothing after its deletion', async () => {
  const { path } = await webhookOf(shop, receiver.url, 'account.deleted');
  const people = await Promise.all(Array.from({ length: 20 }, () => thirsty('UTC')));
  const [first, ...others] = people.sort((a, b) => (a.id < b.id ? -1 : 1));
  await runAt('2037-01-02T06:59:00Z');
  setClock('2037-01-02T07:00:00Z');
  const running = service.runJob('webhook reminders');
  await until(async () => (await days(first ?? shop)).length > 0, 1);
  const last = others.at(-1) ?? shop;
  await last.delete('/api/account').send({ confirm: last.id }).expect(200);
  await running;
  const stored = collection('webhookDeliveries').find({ userId: last.id }).sort({ $natural: 1 });
  expect((await stored.toArray()).at(-1)).toMatchObject({ type: 'account.deleted' });
  await shop.delete(path).expect(200);
});

test('care.due that could not be delivered on its day is dropped', async () => {
  const user = await thirsty('UTC');
  await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z');
  receiver.answer = () => 500;
  await service.runJob('webhook delivery');
  receiver.answer = () => 204;
  setClock('2037-01-03T00:00:30Z');
  await service.runJob('webhook delivery');
  expect(await deliveriesOf(user.id)).toMatchObject([{ status: 'dropped', attempts: 1 }]);
});

test('the end of a tier is sent once, in its place among the events of the account', async () => {
  const people = await Promise.all(Array.from({ length: 8 }, () => thirsty('UTC', '07:00')));
  for (const { id } of people) {
    const tierUntil = '2037-02-01T06:30:00Z';
    await shop.put(`/api/accounts/${id}`, { tier: 'pro', tierUntil }).expect(200);
  }
  await runAt('2037-02-01T06:29:00Z');
  // Changes between the end and its event.
  setClock(Date.parse('2037-02-01T06:30:10Z'));
  const changes = [{ timezone: 'Etc/UTC' }, { tier: 'free' }, { tierUntil: null }];
  for (const [index, change] of changes.entries()) {
    await shop.put(`/api/accounts/${people[index]?.id}`, change).expect(200);
  }
  const late = ['2037-02-01T06:59:00Z', '2037-02-01T07:00:00Z'];
  await runAt('2037-02-01T06:30:30Z', '2037-02-01T06:32:00Z', ...late);
  await service.runJob('webhook delivery');
  for (const { id } of people) {
    expect(receiver.of(id).map(({ body }) => body)).toMatchObject([
      { type: 'tier.changed', data: { tier: 'free' } },
      { type: 'care.due', data: { today: '2037-02-01' } },
    ]);
  }
});

test('an account whose care or deliveries cannot be read delays no other, and is tried again', async () => {
  const people = await Promise.all(Array.from({ length: 3 }, () => thirsty('UTC')));
  const [bad, ...good] = people.sort((a, b) => (a.id < b.id ? -1 : 1));
  const userId = bad?.id;
  const plants = collection('plants');
  const stored = await plants.findOne({ userId });
  await plants.updateOne({ userId }, { $set: { createdAt: 'never' } });
  await runAt('2037-01-02T06:59:00Z');
  await expect(runAt('2037-01-02T07:00:00Z')).rejects.toThrow();
  for (const user of good) expect(await days(user)).toEqual(['2037-01-02']);
  await expect(runAt('2037-01-02T07:01:00Z')).rejects.toThrow();
  await plants.updateOne({ userId }, { $set: { createdAt: stored?.['createdAt'] as Date } });
  await runAt('2037-01-02T07:02:00Z', '2037-01-02T07:03:00Z');
  for (const user of people) expect(await days(user)).toEqual(['2037-01-02']);
  const deliveries = collection('webhookDeliveries');
  await deliveries.updateOne({ userId }, { $set: { dayIn: 'No/Zone' } });
  await expect(service.runJob('webhook delivery')).rejects.toThrow('No/Zone');
  for (const { id } of good) expect(receiver.of(id)).toHaveLength(1);
  await deliveries.updateOne({ userId }, { $set: { dayIn: 'UTC' } });
  await service.runJob('webhook delivery');
  for (const { id } of people) expect(receiver.of(id)).toHaveLength(1);
});

/** Three people to be reminded at seven, in the order in which they are. */
async function inOrder(): Promise<[TestUser, ...TestUser[]]> {
  const people = await Promise.all(Array.from({ length: 3 }, () => thirsty('UTC')));
  const [first = shop, ...others] = people.sort((a, b) => (a.id < b.id ? -1 : 1));
  return [first, ...others];
}

test.each([
  ['timezone', 'No/Zone'],
  ['timezone', 7],
  ['tierUntil', 'never'],
  ['createdAt', 'never'],
  ['language', 7],
])('an account whose %s is stored as %j stops no reminders of others', async (field, value) => {
  const [bad, ...good] = await inOrder();
  const _id = bad.id as never; // Other collections have UUIDs.
  await runAt('2037-01-02T06:59:00Z');
  await collection('accounts').updateOne({ _id }, { $set: { [field]: value } });
  await runAt('2037-01-02T07:00:00Z').catch((error: unknown) => {
    expect(error).toMatchObject({ accounts: [bad.id] });
  });
  for (const user of good) expect(await days(user)).toEqual(['2037-01-02']);
  await collection('accounts').deleteOne({ _id });
});

test('a reminder that failed is tried again by another process, as the person now wants it', async () => {
  const people = await inOrder();
  const [plain, later = shop, never = shop] = people;
  const plants = collection('plants');
  const userId = { $in: people.map(({ id }) => id) };
  const [stored] = await plants.find({ userId }).toArray();
  await plants.updateMany({ userId }, { $set: { createdAt: 'never' } });
  await runAt('2037-01-02T06:59:00Z');
  await expect(runAt('2037-01-02T07:00:00Z')).rejects.toThrow();
  await plants.updateMany({ userId }, { $set: { createdAt: stored?.['createdAt'] as Date } });
  await later.patch('/api/account', { remindAt: '07:30' }).expect(200);
  await never.patch('/api/account', { remindAt: null }).expect(200);
  const env = { WEBHOOK_ALLOW_PRIVATE: 'true' };
  const other = await startService({ jobs: false, env, mongodbUri: proxied.directUri });
  const runThere = async (moment: string): Promise<unknown[]> => {
    setClock(moment);
    await other.runJob('webhook reminders');
    return Promise.all(people.map(days));
  };
  expect(await runThere('2037-01-02T07:02:00Z')).toEqual([['2037-01-02'], [], []]);
  expect(await runThere('2037-01-02T07:30:00Z')).toEqual([['2037-01-02'], ['2037-01-02'], []]);
  await other.close();
  expect(await days(plain)).toHaveLength(1);
});

test('the end of a tier that could not be recorded is recorded later, unless the tier was changed', async () => {
  const people = await inOrder();
  for (const { id } of people) {
    const tierUntil = '2037-02-01T06:30:00Z';
    await shop.put(`/api/accounts/${id}`, { tier: 'pro', tierUntil }).expect(200);
  }
  await runAt('2037-02-01T06:29:00Z');
  const { db } = service.app.database.connection;
  const refuse = (validator: object) => db?.command({ collMod: 'webhookDeliveries', validator });
  const [late, changed = shop, fine = shop] = people;
  await refuse({ userId: { $nin: [late.id, changed.id] } });
  try {
    await expect(runAt('2037-02-01T06:30:30Z')).rejects.toMatchObject({
      accounts: expect.arrayContaining([late.id, changed.id]) as unknown,
    });
  } finally {
    await refuse({});
  }
  await shop.put(`/api/accounts/${changed.id}`, { tier: 'pro' }).expect(200);
  await runAt('2037-02-01T06:31:00Z', '2037-02-01T06:32:00Z');
  const tiers = async ({ id }: TestUser) =>
    (await deliveriesOf(id)).map(({ data }) => data['tier']);
  expect([await tiers(late), await tiers(fine)]).toEqual([['free'], ['free']]);
  expect(await tiers(changed)).toEqual(['pro']);
});
