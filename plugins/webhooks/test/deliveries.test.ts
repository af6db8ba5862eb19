import { createServer } from 'node:net';

import { backendOf, newId } from '../../../test/support/backend';
import { record, records } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { listening } from '../../../test/support/listening';
import { until } from '../../../test/support/processes';
import {
  accountsPlugin,
  startProxiedService,
  toStoredId,
  userOf,
} from '../../../test/support/program';
import type { ProxiedService } from '../../../test/support/proxied-service';
import type { TestService, TestUser } from '../../../test/support/service';
import { anyInstant, bodyOf } from '../../../test/support/shapes';
import { deliveriesOf, Receiver, verify, webhookOf } from './receiver';

const SECOND_MS = 1000;
const HOUR_MS = 60 * 60 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
const ALL = ['plant.created', 'plant.deleted', 'photo.deleted', 'account.deleted', 'tier.changed'];

let proxied: ProxiedService;
let service: TestService;
let shop: TestUser;
let receiver: Receiver;

beforeAll(async () => {
  // Without its jobs, so that deliveries are made when a test says so.
  proxied = await startProxiedService({ jobs: false, env: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
  ({ service } = proxied);
  shop = await backendOf(service, 'shop', 7 * 24 * 3600);
});
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  resetClock();
  for (const { id } of records(bodyOf(await shop.get('/api/webhooks'))['items'])) {
    await shop.delete(`/api/webhooks/${String(id)}`).expect(200);
  }
  await receiver.close();
});
afterAll(() => proxied.close());

const deliver = () => service.runJob('webhook delivery');

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

function namesOf(user: TestUser): unknown[] {
  return receiver.of(user.id).map(({ body }) => record(body['data'])['name']);
}

test('the events of an account are delivered in order, signed', async () => {
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
  await deliver();
  const userId = ada.id;
  const about = { userId, plantId: plant.id, name: 'Fern' };
  const image = { userId, photoId: photo.id, imagehostPublicId: 'garden/ivy' };
  const received = receiver.of(ada.id);
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
  const listed = await deliveriesOf(shop, path);
  expect(listed.map(({ id }) => id)).toEqual(received.map(({ id }) => id).toReversed());
  expect(new Set(listed.map(({ status }) => status))).toEqual(new Set(['delivered']));
});

test('a webhook receives only its events, and none of a write that failed', async () => {
  await webhookOf(shop, receiver.url, 'plant.deleted');
  const ada = await person();
  const plant = await ada.plant();
  await ada.delete(`/api/plants/${plant.id}`).set('If-Match', '"other"').expect(412);
  await ada.delete(`/api/plants/${plant.id}`).expect(200);
  await ada.delete(`/api/plants/${(await ada.plant()).id}`).expect(200);
  await deliver();
  expect(receiver.typesOf(ada.id)).toEqual(['plant.deleted', 'plant.deleted']);
});

test('events of writes that share a transaction are delivered in the order of each account', async () => {
  await webhookOf(shop, receiver.url, 'plant.created', 'plant.deleted');
  const people = await Promise.all(Array.from({ length: 4 }, person));
  await Promise.all(
    people.flatMap((each) =>
      Array.from({ length: 8 }, async () => {
        await each.delete(`/api/plants/${(await each.plant()).id}`).expect(200);
      }),
    ),
  );
  await deliver();
  for (const { id } of people) {
    const events = receiver
      .of(id)
      .map(({ body }) => [body['type'], record(body['data'])['plantId']]);
    expect(events).toHaveLength(16);
    for (const [type, plantId] of events) {
      if (type === 'plant.created') continue;
      const [first] = events.filter((each) => each[1] === plantId);
      expect(first).toEqual(['plant.created', plantId]);
    }
  }
});

test('a failed delivery is retried, and later ones of its account wait for it', async () => {
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  const [ada, bob] = [await person(), await person()];
  const failures: (number | 'reset')[] = [500, 'reset'];
  receiver.answer = ({ body }) =>
    record(body['data'])['userId'] === ada.id ? (failures.shift() ?? 200) : 200;
  let now = Date.now();
  const after = async (seconds: number): Promise<void> => {
    now += seconds * SECOND_MS;
    setClock(now);
    await deliver();
  };
  await after(0);
  await ada.plant({ name: 'One' });
  await after(1);
  await ada.plant({ name: 'Two' });
  await bob.plant();
  await after(4.9);
  expect(namesOf(ada)).toEqual(['One']);
  expect(receiver.of(bob.id)).toHaveLength(1);
  await after(0.1);
  expect(namesOf(ada)).toEqual(['One', 'One']);
  await after(9.9);
  expect(namesOf(ada)).toEqual(['One', 'One']);
  await after(0.1);
  expect(namesOf(ada)).toEqual(['One', 'One', 'One', 'Two']);
  expect(new Set(receiver.of(ada.id).map(({ id }) => id)).size).toBe(2);
  const [, , one] = await deliveriesOf(shop, path);
  expect(one).toMatchObject({ status: 'delivered', attempts: 3, responseStatus: 200, error: null });
  expect(await webhookAt(path)).toMatchObject({ active: true, failingSince: null });
});

test('a delivery that an earlier version left waiting is sent', async () => {
  const { secret } = await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await person();
  await ada.plant();
  // 1.2.0 sent webhooks only.
  await service.app.database.connection
    .collection('webhookDeliveries')
    .updateOne({ userId: ada.id }, { $unset: { destinationId: 1, dropAt: 1 } });
  await deliver();
  const [message] = receiver.of(ada.id);
  if (message) verify(secret, message);
  expect(receiver.typesOf(ada.id)).toEqual(['plant.created']);
});

test('for a day after a rotation both secrets verify; a second rotation ends the first', async () => {
  const { secret: first, path } = await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await person();
  const rotated = async () =>
    String(bodyOf(await shop.post(`${path}/rotate`).expect(201))['secret']);
  /** Which of some secrets verify the next message. */
  const verifying = async (...secrets: string[]): Promise<boolean[]> => {
    await ada.plant();
    await deliver();
    const message = receiver.of(ada.id).at(-1);
    return secrets.map((secret) => {
      try {
        if (message) verify(secret, message);
        return message !== undefined;
      } catch {
        return false;
      }
    });
  };
  const second = await rotated();
  expect(await verifying(first, second)).toEqual([true, true]);
  const third = await rotated();
  expect(await verifying(first, second, third)).toEqual([false, true, true]);
  setClock(Date.now() + DAY_MS);
  await ada.plant();
  await deliver();
  expect(receiver.of(ada.id).at(-1)?.headers['webhook-signature']).toMatch(/^v1,\S+$/);
});

test('a delivery that succeeded is sent again with the same id and body', async () => {
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await person();
  await ada.plant();
  await deliver();
  const [delivery] = await deliveriesOf(shop, path);
  const redeliver = `${path}/deliveries/${String(delivery?.['id'])}/redeliver`;
  expect(bodyOf(await shop.post(redeliver).expect(201))).toMatchObject({
    id: delivery?.['id'],
    status: 'waiting',
    attempts: 0,
  });
  await deliver();
  const [one, two] = receiver.of(ada.id);
  expect([two?.id, two?.text]).toEqual([one?.id, one?.text]);
  expect(await deliveriesOf(shop, path)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
});

test('a delivery that waits for its next attempt is sent at once if asked for, or if the URL changes', async () => {
  receiver.answer = () => 500;
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await person();
  await ada.plant();
  await deliver();
  const [delivery] = await deliveriesOf(shop, path);
  await shop.post(`${path}/deliveries/${String(delivery?.['id'])}/redeliver`).expect(201);
  await deliver();
  expect(receiver.of(ada.id)).toHaveLength(2);
  receiver.answer = () => 200;
  const url = `${receiver.url}/moved`;
  expect(bodyOf(await shop.patch(path, { url }).expect(200))).toMatchObject({ failingSince: null });
  await deliver();
  expect(receiver.of(ada.id).map((message) => message.path)).toEqual(['/', '/', '/moved']);
});

test('the time between two attempts doubles to an hour', async () => {
  receiver.answer = () => 500;
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  await (await person()).plant();
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 12; attempt += 1) {
    await deliver();
    const [delivery] = await deliveriesOf(shop, path);
    const [last, next] = [delivery?.['lastAttemptAt'], delivery?.['nextAttemptAt']].map((moment) =>
      Date.parse(String(moment)),
    );
    pauses.push((Number(next) - Number(last)) / SECOND_MS);
    setClock(Number(next));
  }
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
});

test('a redirect is a failure and is not followed', async () => {
  const other = await Receiver.start();
  const headers = { Location: `${other.url}/elsewhere` };
  receiver.answer = () => ({ status: 307, headers });
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  await (await person()).plant();
  await deliver();
  expect(await deliveriesOf(shop, path)).toMatchObject([
    { status: 'waiting', attempts: 1, responseStatus: 307, error: 'The response status was 307.' },
  ]);
  expect(other.received).toEqual([]);
  await other.close();
});

test('an endless response body is cut off', async () => {
  receiver.answer = () => 'flooding';
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  await (await person()).plant();
  await deliver();
  expect(await deliveriesOf(shop, path)).toMatchObject([
    { status: 'delivered', responseStatus: 200 },
  ]);
  expect(receiver.sentBytes).toBeLessThan(50_000_000);
});

test('a response that violates HTTP is a failure', async () => {
  const server = createServer((socket) => {
    const upgrade = ['HTTP/1.1 101 Switching Protocols', 'Connection: upgrade', 'Upgrade: echo'];
    socket
      .on('error', () => undefined)
      .once('data', () => socket.end(upgrade.join('\r\n') + '\r\n\r\n'));
  });
  const url = `http://127.0.0.1:${await listening(server)}/`;
  const { path } = await webhookOf(shop, url, 'plant.created');
  await (await person()).plant();
  await deliver();
  expect(await deliveriesOf(shop, path)).toMatchObject([
    { status: 'waiting', attempts: 1, error: 'The connection failed.' },
  ]);
  server.close();
});

test('a 410 switches a webhook off; when switched on again, it continues where it stopped', async () => {
  receiver.answer = () => 410;
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await person();
  await ada.plant({ name: 'One' });
  await deliver();
  const gone = { active: false, inactiveReason: 'gone' };
  expect(await webhookAt(path)).toMatchObject(gone);
  expect(bodyOf(await shop.patch(path, { active: false }).expect(200))).toMatchObject(gone);
  await ada.plant({ name: 'Not recorded' });
  expect(await deliveriesOf(shop, path)).toHaveLength(1);
  receiver.answer = () => 200;
  await deliver();
  await shop.patch(path, { active: true }).expect(200);
  await ada.plant({ name: 'Two' });
  await deliver();
  expect(namesOf(ada)).toEqual(['One', 'One', 'Two']);
  const entries: Record<string, unknown>[] = [];
  for await (const batch of service.app.audit.entries({ userId: shop.id })) {
    entries.push(...records(batch));
  }
  expect(entries).toContainEqual(
    expect.objectContaining({
      action: 'webhook.switched_off',
      changes: { reason: 'gone' },
      actor: expect.objectContaining({ type: 'server' }) as object,
    }),
  );
});

test('a webhook whose deliveries cannot be resumed delays no other, and is tried again', async () => {
  const { path, id } = await webhookOf(shop, `${receiver.url}/broken`, 'plant.created');
  await webhookOf(shop, `${receiver.url}/good`, 'plant.created');
  const ada = await person();
  await shop.patch(path, { active: false }).expect(200);
  await shop.patch(path, { active: true }).expect(200);
  await ada.plant();
  const { db } = service.app.database.connection;
  const refuse = (validator: object) => db?.command({ collMod: 'webhooks', validator });
  await refuse({ $nor: [{ _id: toStoredId(id), isResumed: false }] });
  try {
    await expect(deliver()).rejects.toMatchObject({ accounts: [shop.id] });
  } finally {
    await refuse({});
  }
  const paths = () => receiver.of(ada.id).map((message) => message.path);
  expect(paths()).toEqual(['/good']);
  await deliver();
  expect(paths()).toEqual(['/good', '/broken']);
});

test('a webhook that fails for three days is switched off', async () => {
  receiver.answer = () => 503;
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  const begun = Date.now();
  setClock(begun);
  await (await person()).plant();
  await deliver();
  setClock(begun + 3 * DAY_MS - HOUR_MS);
  await deliver();
  expect(await webhookAt(path)).toMatchObject({ active: true, failingSince: anyInstant });
  setClock(begun + 3 * DAY_MS);
  await deliver();
  const failingSince = new Date(begun).toISOString();
  expect(await webhookAt(path)).toMatchObject({
    active: false,
    inactiveReason: 'failing',
    failingSince,
  });
  receiver.answer = () => 200;
  await shop.patch(path, { active: true }).expect(200);
  await deliver();
  expect(await deliveriesOf(shop, path)).toMatchObject([{ status: 'delivered' }]);
  expect(await webhookAt(path)).toMatchObject({ active: true, failingSince: null });
});

test('waiting deliveries of a deleted account are still sent, account.deleted last', async () => {
  const { path } = await webhookOf(shop, receiver.url, ...ALL);
  const ada = await person();
  await ada.plant({ name: 'Seen' });
  await deliver();
  receiver.answer = () => 500;
  await ada.plant({ name: 'Unseen' });
  await deliver();
  await shop.delete(`/api/accounts/${ada.id}`).expect(200);
  await service.app.exportsOf(accountsPlugin).data.deleteUser(ada.id, () => undefined);
  await shop.put(`/api/accounts/${ada.id}`, { tier: 'free' }).expect(201);
  await shop.put(`/api/accounts/${ada.id}`, { tier: 'pro' }).expect(200);
  receiver.answer = () => 200;
  const types = ['tier.changed', 'account.deleted', 'plant.created'];
  expect((await deliveriesOf(shop, path)).map(({ type }) => type)).toEqual(types);
  setClock(Date.now() + 5 * SECOND_MS);
  await deliver();
  expect(receiver.typesOf(ada.id).slice(-3)).toEqual(types.toReversed());
  // Nothing about the deleted account stays, but for the notice of its deletion.
  expect((await deliveriesOf(shop, path)).map(({ type }) => type)).toEqual(types.slice(0, 2));
});

test('an export has the deliveries about an account, and of a backend its webhooks without secrets', async () => {
  const { secret } = await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await person();
  await ada.plant({ name: 'Fern' });
  const all = bodyOf(await shop.get(`/api/accounts/${ada.id}/export`).expect(200));
  expect(record(all['records'])['webhookDeliveries']).toMatchObject([
    { body: { type: 'plant.created', data: { name: 'Fern' } } },
  ]);
  let own = '';
  const pieces = await service.app.exportsOf(accountsPlugin).data.exportUser(shop.id);
  for await (const piece of pieces ?? []) own += piece;
  expect(own).toContain(receiver.url);
  expect(own).not.toContain(secret);
});

test('the deliveries of a deleted webhook are deleted, and so are the webhooks of a deleted backend', async () => {
  const store = await backendOf(service, 'store');
  const accounts = service.app.exportsOf(accountsPlugin);
  const { db } = service.app.database.connection;
  const left = () => db?.collection('webhookDeliveries').countDocuments({ userId: ada.id });
  const ada = await person();
  const { path } = await webhookOf(store, receiver.url, 'plant.created');
  await webhookOf(store, receiver.url, 'plant.created');
  await ada.plant();
  expect(await left()).toBe(2);
  await store.delete(path).expect(200);
  await service.runJob('webhook cleanup');
  expect(await left()).toBe(1);
  await webhookOf(shop, receiver.url, 'account.deleted');
  await accounts.data.deleteUser(store.id, () => undefined);
  await service.runJob('webhook cleanup');
  expect(await left()).toBe(0);
  // Backends do not hear of each other.
  const about = { userId: store.id };
  expect(await db?.collection('webhookDeliveries').countDocuments(about)).toBe(0);
  await ada.plant();
  expect(await left()).toBe(0);
});

test('deliveries of a webhook that is made during the cleanup stay', async () => {
  await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await person();
  await ada.plant();
  // The cleanup is slow, so that another is made between its reads.
  let begun = false;
  proxied.proxy.onCommand(({ name, collection, inTransaction }) => {
    const isOf = collection === 'webhooks' && name === 'find' && !inTransaction;
    const isOfCleanup = isOf || (collection === 'webhookDeliveries' && name === 'aggregate');
    begun ||= isOfCleanup;
    return isOfCleanup ? 'delay' : undefined;
  });
  const cleaned = service.runJob('webhook cleanup');
  await until(() => begun);
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  await ada.plant();
  await cleaned;
  proxied.proxy.restore();
  expect(await deliveriesOf(shop, path)).toHaveLength(1);
});

test('metrics count attempts by outcome, and show how long the oldest delivery has waited', async () => {
  receiver.answer = () => 500;
  await webhookOf(shop, receiver.url, 'plant.created');
  await (await person()).plant();
  await deliver();
  setClock(Date.now() + 90 * SECOND_MS);
  const text = await service.app.metrics.text();
  expect(text).toMatch(/webhook_oldest_waiting_seconds (9\d|1\d\d)/);
  expect(text).toMatch(/plantcare_webhook_deliveries_total\{outcome="failed"\} [1-9]/);
  expect(text).toContain('# TYPE plantcare_webhook_deliveries_total counter');
});
