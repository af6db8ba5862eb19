import { createServer } from 'node:net';

import { record, records } from '../../../test/support/client';
import { listening } from '../../../test/support/listening';
import { resetClock, setClock } from '../../../test/support/clock';
import { until } from '../../../test/support/processes';
import { accountsPlugin, startService, userOf } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { anyInstant, bodyOf } from '../../../test/support/shapes';
import { backendOf, newId } from '../../../test/support/backend';
import { Receiver, verify, webhookOf } from './receiver';

const DAY_MS = 24 * 60 * 60 * 1000;
const ALL = ['plant.created', 'plant.deleted', 'photo.deleted', 'account.deleted', 'tier.changed'];

let service: TestService;
let shop: TestUser;
let receiver: Receiver;

beforeAll(async () => {
  service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
  shop = await backendOf(service, 'shop', 7 * 24 * 3600);
});
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  for (const { id } of records(bodyOf(await shop.get('/api/webhooks'))['items'])) {
    await shop.delete(`/api/webhooks/${String(id)}`).expect(200);
  }
  await receiver.close();
});
afterAll(() => service.close());

async function person(): Promise<TestUser> {
  const path = `/api/accounts/${newId()}`;
  const { id } = bodyOf(await shop.put(path, { tier: 'pro' }).expect(201));
  const { token } = bodyOf(await shop.post(`${path}/tokens`, { name: 'Phone' }).expect(201));
  return userOf(service.url, String(id), String(token));
}

async function webhookAt(path: string): Promise<Record<string, unknown>> {
  const { items } = bodyOf(await shop.get('/api/webhooks').expect(200));
  return record(records(items).find(({ id }) => path.endsWith(String(id))));
}

async function deliveriesOf(path: string): Promise<Record<string, unknown>[]> {
  return records(bodyOf(await shop.get(`${path}/deliveries?limit=100`).expect(200))['items']);
}

test('what happens to an account is told in its order, signed, and says what it is about', async () => {
  const { secret, path } = await webhookOf(shop, `${receiver.url}/hooks?a=b`, ...ALL);
  const ada = await person();
  const plant = await ada.plant({ name: 'Fern' });
  const photo = await ada.photo({ imagehostPublicId: 'garden/ivy' });
  await ada.event(plant.id);
  await ada.delete(`/api/photos/${photo.id}`).expect(200);
  await ada.delete(`/api/plants/${plant.id}`).expect(200);
  await shop.put(`/api/accounts/${ada.id}`, { tier: 'free' }).expect(200);
  await shop.put(`/api/accounts/${ada.id}`, { timezone: 'Europe/Oslo' }).expect(200);
  await shop.delete(`/api/accounts/${ada.id}`).expect(200);
  const received = await receiver.until(ada.id, 5);
  const userId = ada.id;
  const about = { userId, plantId: plant.id, name: 'Fern' };
  const image = { userId, photoId: photo.id, imagehostPublicId: 'garden/ivy' };
  expect(received.map(({ body }) => body)).toEqual([
    { type: 'plant.created', timestamp: anyInstant, data: about },
    { type: 'photo.deleted', timestamp: anyInstant, data: image },
    { type: 'plant.deleted', timestamp: anyInstant, data: about },
    { type: 'tier.changed', timestamp: anyInstant, data: { userId, tier: 'free' } },
    { type: 'account.deleted', timestamp: anyInstant, data: { userId } },
  ]);
  for (const message of received) {
    expect(message.path).toBe('/hooks?a=b');
    expect(message.headers['content-type']).toBe('application/json');
    verify(secret, message);
    expect(() => {
      verify(`whsec_${'A'.repeat(43)}=`, message);
    }).toThrow('No matching signature');
  }
  await until(async () => (await deliveriesOf(path)).every((each) => each['status'] !== 'waiting'));
  expect((await deliveriesOf(path)).map(({ id }) => id)).toEqual(
    received.map(({ id }) => id).toReversed(),
  );
});

test('only what is asked for is told, and nothing of what is undone', async () => {
  await webhookOf(shop, receiver.url, 'plant.deleted');
  const ada = await person();
  const plant = await ada.plant();
  await ada.delete(`/api/plants/${plant.id}`).set('If-Match', '"other"').expect(412);
  await ada.delete(`/api/plants/${plant.id}`).expect(200);
  await receiver.until(ada.id, 1);
  await ada.delete(`/api/plants/${(await ada.plant()).id}`).expect(200);
  await receiver.until(ada.id, 2);
  expect(receiver.typesOf(ada.id)).toEqual(['plant.deleted', 'plant.deleted']);
});

test('writes that share a transaction are all told of, each account in the order of its own', async () => {
  await webhookOf(shop, receiver.url, 'plant.created', 'plant.deleted');
  const people = await Promise.all(Array.from({ length: 4 }, person));
  await Promise.all(
    people.flatMap((each) =>
      Array.from({ length: 8 }, async () => {
        await each.delete(`/api/plants/${(await each.plant()).id}`).expect(200);
      }),
    ),
  );
  for (const { id } of people) {
    const received = await receiver.until(id, 16);
    const told = received.map(({ body }) => [body['type'], record(body['data'])['plantId']]);
    for (const [type, plantId] of told.slice(0, 16)) {
      if (type === 'plant.created') continue;
      const [first] = told.filter((each) => each[1] === plantId);
      expect(first).toEqual(['plant.created', plantId]);
    }
  }
});

test('a delivery that fails is sent again within 10 s, before all that follows of the account', async () => {
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  const [ada, bob] = [await person(), await person()];
  const failures: (number | 'reset')[] = [500, 'reset'];
  receiver.answer = ({ body }) =>
    record(body['data'])['userId'] === ada.id ? (failures.shift() ?? 200) : 200;
  await ada.plant({ name: 'One' });
  await receiver.until(ada.id, 1);
  await ada.plant({ name: 'Two' });
  await bob.plant();
  await receiver.until(bob.id, 1);
  expect(receiver.of(ada.id)).toHaveLength(1);
  await until(async () => (await webhookAt(path))['failingSince'] === null);
  const received = await receiver.until(ada.id, 4);
  const names = received.map(({ body }) => record(body['data'])['name']);
  expect(names).toEqual(['One', 'One', 'One', 'Two']);
  expect(new Set(received.map(({ id }) => id)).size).toBe(2);
  const [first = 0, second = 0, third = 0] = received.map(({ at }) => at);
  expect(second - first).toBeGreaterThan(4000);
  expect(second - first).toBeLessThan(10_000);
  expect(third - second).toBeGreaterThan(second - first);
  await until(async () => (await deliveriesOf(path)).every(({ status }) => status === 'delivered'));
  const one = (await deliveriesOf(path)).find(({ id }) => id === received[0]?.id);
  expect(one).toMatchObject({ attempts: 3, responseStatus: 200, error: null });
});

test('a redirect is no success, and is not followed', async () => {
  const other = await Receiver.start();
  const headers = { Location: `${other.url}/elsewhere` };
  receiver.answer = () => ({ status: 307, headers });
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await person();
  await ada.plant();
  await until(async () => (await deliveriesOf(path))[0]?.['responseStatus'] === 307);
  expect(await deliveriesOf(path)).toMatchObject([
    { status: 'waiting', attempts: 1, error: 'The answer was 307.' },
  ]);
  expect(other.received).toEqual([]);
  await other.close();
});

test('an answer of 410 switches a webhook off; switched on again it goes on where it was', async () => {
  receiver.answer = () => 410;
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await person();
  await ada.plant({ name: 'One' });
  await until(async () => (await webhookAt(path))['active'] === false);
  expect(await webhookAt(path)).toMatchObject({ inactiveReason: 'gone' });
  await ada.plant({ name: 'Not told' });
  expect(await deliveriesOf(path)).toHaveLength(1);
  receiver.answer = () => 200;
  await shop.patch(path, { active: true }).expect(200);
  await ada.plant({ name: 'Two' });
  const received = await receiver.until(ada.id, 3);
  const names = received.map(({ body }) => record(body['data'])['name']);
  expect(names).toEqual(['One', 'One', 'Two']);
  const entries: Record<string, unknown>[] = [];
  for await (const batch of service.app.audit.entries({ userId: shop.id })) {
    entries.push(...records(batch));
  }
  expect(entries).toContainEqual(
    expect.objectContaining({
      ...{ action: 'webhook.switched_off', changes: { reason: 'gone' } },
      actor: expect.objectContaining({ type: 'server' }) as object,
    }),
  );
});

test('a webhook that fails for three days is switched off', async () => {
  receiver.answer = () => 503;
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await person();
  const begun = Date.now();
  try {
    await ada.plant();
    await until(async () => (await webhookAt(path))['failingSince'] !== null);
    setClock(begun + 3 * DAY_MS - 60_000);
    await until(async () => Number((await deliveriesOf(path))[0]?.['attempts']) > 1);
    expect(await webhookAt(path)).toMatchObject({ active: true });
    setClock(begun + 3 * DAY_MS + 60_000);
    await until(async () => (await webhookAt(path))['active'] === false);
    expect(await webhookAt(path)).toMatchObject({
      ...{ inactiveReason: 'failing', failingSince: anyInstant },
    });
    receiver.answer = () => 200;
    await shop.patch(path, { active: true }).expect(200);
    await until(async () => (await deliveriesOf(path))[0]?.['status'] === 'delivered');
    expect(await webhookAt(path)).toMatchObject({ active: true, failingSince: null });
  } finally {
    resetClock();
  }
});

test('a receiver that never answers is given up after 10 s, and holds up no other', async () => {
  const other = await Receiver.start();
  receiver.answer = () => 'never';
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  await webhookOf(shop, other.url, 'plant.created');
  const ada = await person();
  await ada.plant();
  await receiver.until(ada.id, 1);
  await ada.plant();
  await other.until(ada.id, 2);
  expect(await deliveriesOf(path)).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
  await until(async () => Number((await deliveriesOf(path))[1]?.['attempts']) === 1);
  expect((await deliveriesOf(path))[1]).toMatchObject({
    ...{ responseStatus: null, error: 'There was no answer in 10 seconds.' },
  });
  await other.close();
});

test('account.deleted outlives its account, and nothing else that is delivered does', async () => {
  const { path } = await webhookOf(shop, receiver.url, ...ALL);
  const ada = await person();
  await ada.plant({ name: 'Seen' });
  await until(async () => (await deliveriesOf(path))[0]?.['status'] === 'delivered');
  receiver.answer = () => 500;
  await ada.plant({ name: 'Unseen' });
  await receiver.until(ada.id, 2);
  await shop.delete(`/api/accounts/${ada.id}`).expect(200);
  await service.app.exportsOf(accountsPlugin).deleteUser(ada.id, () => undefined);
  await shop.put(`/api/accounts/${ada.id}`, { tier: 'free' }).expect(201);
  await shop.put(`/api/accounts/${ada.id}`, { tier: 'pro' }).expect(200);
  receiver.answer = () => 200;
  const types = ['tier.changed', 'account.deleted', 'plant.created'];
  expect((await deliveriesOf(path)).map(({ type }) => type)).toEqual(types);
  await until(() => receiver.typesOf(ada.id).includes('tier.changed'));
  expect(receiver.typesOf(ada.id).slice(-3)).toEqual(types.toReversed());
  await until(async () => (await deliveriesOf(path))[0]?.['status'] === 'delivered');
  expect((await deliveriesOf(path)).map(({ type }) => type)).toEqual(types.slice(0, 2));
});

test('an export has what is told of an account, and of a backend its webhooks without secrets', async () => {
  const { secret } = await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await person();
  await ada.plant({ name: 'Fern' });
  const all = bodyOf(await shop.get(`/api/accounts/${ada.id}/export`).expect(200));
  expect(record(all['records'])['webhookDeliveries']).toMatchObject([
    { body: { type: 'plant.created', data: { name: 'Fern' } } },
  ]);
  let own = '';
  for await (const piece of (await service.app.exportsOf(accountsPlugin).exportUser(shop.id)) ??
    []) {
    own += piece;
  }
  expect(own).toContain(receiver.url);
  expect(own).not.toContain(secret);
});

test('what a deleted webhook was yet to be sent is deleted, and so are the webhooks of a backend that goes', async () => {
  const store = await backendOf(service, 'store');
  const accounts = service.app.exportsOf(accountsPlugin);
  const { db } = service.app.database.connection;
  const left = () => db?.collection('webhookDeliveries').countDocuments({ userId: ada.id });
  const ada = await person();
  const { path } = await webhookOf(store, 'http://127.0.0.1:9/', 'plant.created');
  await webhookOf(store, 'http://127.0.0.1:9/', 'plant.created');
  await ada.plant();
  expect(await left()).toBe(2);
  const jobs = service.app.plugins.flatMap(({ contribution }) => contribution.jobs ?? []);
  const tidy = async () =>
    jobs.find(({ name }) => name === 'upkeep of webhooks')?.run(new AbortController().signal);
  await store.delete(path).expect(200);
  await tidy();
  expect(await left()).toBe(1);
  await accounts.deleteUser(store.id, () => undefined);
  await tidy();
  expect(await left()).toBe(0);
  await ada.plant();
  expect(await left()).toBe(0);
});

test('of several processes one at a time sends what there is of an account', async () => {
  const others = await Promise.all(
    Array.from({ length: 2 }, () =>
      startService({
        ...{ mongodbUri: service.mongodbUri, env: { WEBHOOK_ALLOW_PRIVATE: 'true' } },
      }),
    ),
  );
  await webhookOf(shop, receiver.url, 'plant.created');
  receiver.answer = () => new Promise((resolve) => setTimeout(resolve, 5, 200));
  const people = await Promise.all(Array.from({ length: 5 }, person));
  const urls = [service.url, ...others.map(({ url }) => url)];
  await Promise.all(
    people.map(async ({ id, token }) => {
      for (let round = 0; round < 10; round += 1) {
        for (const url of urls) await userOf(url, id, token).plant();
      }
    }),
  );
  for (const each of people) {
    const told = () =>
      new Set(receiver.of(each.id).map(({ body }) => record(body['data'])['plantId']));
    await until(() => told().size === 30);
    const made = records((await each.get('/api/plants').expect(200)).body);
    expect(told()).toEqual(new Set(made.map(({ id }) => id)));
  }
  expect(receiver.mostAtOnce).toBe(1);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(150);
  for (const other of others) await other.close();
});

test('a name that leads to a private address is not connected to', async () => {
  const strict = await startService();
  const connections: unknown[] = [];
  const server = createServer((socket) => {
    connections.push(socket.destroy());
  });
  const backend = await backendOf(strict, 'strict');
  const url = `https://localhost:${await listening(server)}/hooks`;
  const { path } = await webhookOf(backend, url, 'account.deleted');
  await backend.post(`${path}/test`).expect(201);
  const first = async () =>
    records(bodyOf(await backend.get(`${path}/deliveries`).expect(200))['items'])[0];
  await until(async () => Number((await first())?.['attempts']) > 0);
  expect(await first()).toMatchObject({
    ...{ responseStatus: null, error: 'The URL must be a public address.' },
  });
  expect(connections).toEqual([]);
  await backend.delete(path).expect(200);
  server.close();
  await strict.close();
});

test('metrics count deliveries by what became of them, and say how long the oldest has waited', async () => {
  receiver.answer = () => 500;
  await webhookOf(shop, receiver.url, 'plant.created');
  await (await person()).plant();
  const text = async () => service.app.metrics.text();
  await until(async () => /webhook_oldest_waiting_seconds [1-9]/.test(await text()));
  expect(await text()).toMatch(/plantcare_webhook_deliveries_total\{outcome="failed"\} [1-9]/);
  expect(await text()).toContain('# TYPE plantcare_webhook_deliveries_total counter');
});
