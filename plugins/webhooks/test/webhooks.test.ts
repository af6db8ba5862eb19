import { createServer } from 'node:net';

import { backendOf, newId } from '../../../test/support/backend';
import { record, records } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { listening } from '../../../test/support/listening';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { several } from '../../../test/support/several';
import { anyId, anyInstant, bodyOf, expectError, faultsOf } from '../../../test/support/shapes';
import { webhookOf } from './receiver';

const URL = 'https://shop.example.com/hooks';

let service: TestService;
let shop: TestUser;

beforeAll(async () => {
  // Without jobs nothing is sent.
  service = await startService({ jobs: false });
  shop = await backendOf(service, 'shop');
});
afterAll(() => service.close());
afterEach(resetClock);

async function idsOf(backend: TestUser): Promise<unknown[]> {
  return records(bodyOf(await backend.get('/api/webhooks').expect(200))['items']).map(
    ({ id }) => id,
  );
}

test('a webhook shows its secret once, and is listed, switched and deleted', async () => {
  const shown = {
    id: anyId,
    url: URL,
    events: ['photo.deleted', 'tier.changed'],
    active: true,
    inactiveReason: null,
    failingSince: null,
    createdAt: anyInstant,
  };
  const { events } = shown;
  const made = bodyOf(await shop.post('/api/webhooks', { url: URL, events }).expect(201));
  const { secret, ...webhook } = made;
  expect(webhook).toEqual(shown);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(bodyOf(await shop.get('/api/webhooks').expect(200))).toEqual({ items: [webhook] });
  const path = `/api/webhooks/${String(made['id'])}`;
  const paused = { ...webhook, active: false, inactiveReason: 'paused' };
  expect(bodyOf(await shop.patch(path, { active: false }).expect(200))).toEqual(paused);
  expect(bodyOf(await shop.patch(path, {}).expect(200))).toEqual(paused);
  expect(bodyOf(await shop.patch(path, { active: true }).expect(200))).toEqual(webhook);
  await shop.delete(path).expect(200);
  expect(await idsOf(shop)).toEqual([]);
  for (const answer of [
    await shop.delete(path),
    await shop.patch(path, { active: true }),
    await shop.get(`${path}/deliveries`),
    await shop.post(`${path}/test`),
  ]) {
    expectError(answer, 404, 'webhook_not_found');
  }
  const log = JSON.stringify(await service.app.audit.entries({ userId: shop.id }).next());
  for (const act of ['created', 'changed', 'deleted']) expect(log).toContain(`"webhook.${act}"`);
  for (const hidden of [String(secret), URL]) {
    expect(log + service.logged.join('')).not.toContain(hidden);
  }
});

test.each([
  [{ url: 'http://shop.example.com/hooks' }, 'url'],
  [{ url: 'https://ada:secret@shop.example.com' }, 'url'],
  [{ url: 'https://127.0.0.1/hooks' }, 'url'],
  [{ url: 'https://2130706433/' }, 'url'],
  [{ url: 'https://0x7f.1/' }, 'url'],
  [{ url: 'https://0.0.0.0:8443/' }, 'url'],
  [{ url: 'https://127.0.0.1./' }, 'url'],
  [{ url: 'https://100.64.0.1/' }, 'url'],
  [{ url: 'https://[64:ff9b::a00:1]/' }, 'url'],
  [{ url: 'https://[fe80::1]/' }, 'url'],
  [{ url: 'https://169.254.169.254/latest' }, 'url'],
  [{ url: 'https://[::1]:8443/' }, 'url'],
  [{ url: 'https://[::ffff:10.0.0.1]/' }, 'url'],
  [{ url: 'https://[fd00::1]/' }, 'url'],
  [{ url: 'ftp://shop.example.com' }, 'url'],
  [{ url: `https://shop.example.com/${'a'.repeat(2048)}` }, 'url'],
  [{ events: [] }, 'events'],
  [{ events: ['plant.watered'] }, 'events'],
  [{ events: ['plant.created', 'plant.created'] }, 'events'],
])('%j is refused', async (fields, fault) => {
  const body = { url: URL, events: ['plant.created'], ...fields };
  expect(faultsOf(await shop.post('/api/webhooks', body).expect(400))).toEqual([fault]);
});

test('a webhook gets another URL and other events; a URL that is not allowed changes nothing', async () => {
  const backend = await backendOf(service, 'mover');
  const { path } = await webhookOf(backend, URL, 'plant.created');
  const before = records(bodyOf(await backend.get('/api/webhooks').expect(200))['items'])[0];
  const refused = await backend.patch(path, { url: 'https://10.0.0.1/', events: ['care.due'] });
  expect(faultsOf(refused)).toEqual(['url']);
  expect(faultsOf(await backend.patch(path, { events: [] }))).toEqual(['events']);
  expect(bodyOf(await backend.get('/api/webhooks').expect(200))['items']).toEqual([before]);
  const url = 'https://other.example.com/secret-path';
  const changed = { ...before, url, events: ['tier.changed', 'account.changed'] };
  const { events } = changed;
  expect(bodyOf(await backend.patch(path, { url, events }).expect(200))).toEqual(changed);
  expect(bodyOf(await backend.get('/api/webhooks').expect(200))['items']).toEqual([changed]);
  const log = JSON.stringify(await service.app.audit.entries({ userId: backend.id }).next());
  expect(log).toContain('"changes":{"url":"another","events":["tier.changed","account.changed"]}');
  expect(log).not.toContain('secret-path');
});

test('a rotated secret is shown once', async () => {
  const backend = await backendOf(service, 'rotator');
  const { path, secret: first } = await webhookOf(backend, URL, 'plant.created');
  const rotate = () => backend.post(`${path}/rotate`).set('Idempotency-Key', 'once');
  const { secret, ...shown } = bodyOf(await rotate().expect(201));
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(secret).not.toBe(first);
  expect(bodyOf(await backend.get('/api/webhooks').expect(200))['items']).toEqual([shown]);
  expect((await rotate().expect(409)).text).not.toContain(String(secret));
});

test.each([
  ['a webhook that does not exist', () => `/api/webhooks/${newId()}/deliveries/${newId()}`],
  ['a malformed id', (path: string) => `${path}/deliveries/7`],
  ['a delivery that does not exist', (path: string) => `${path}/deliveries/${newId()}`],
])('nothing is sent again of %s', async (_what, pathIn) => {
  const { path } = await webhookOf(shop, URL, 'plant.created');
  const { id } = bodyOf(await shop.post(`${path}/test`).expect(201));
  const answer = await shop.post(`${pathIn(path)}/redeliver`);
  expect(answer.status).toBe(404);
  const { path: other } = await webhookOf(shop, URL, 'plant.created');
  const ofOther = await shop.post(`${other}/deliveries/${String(id)}/redeliver`);
  expectError(ofOther, 404, 'delivery_not_found');
});

test('a backend has a limited number of webhooks, which other backends do not see', async () => {
  const [full, other] = [await backendOf(service, 'full'), await backendOf(service, 'other')];
  const body = { url: URL, events: ['account.deleted'] };
  const many = await several(16, () => full.post('/api/webhooks', body).expect(201));
  const made = many.map((each) => bodyOf(each)['id']);
  const last = await Promise.all(Array.from({ length: 8 }, () => full.post('/api/webhooks', body)));
  const good = last.filter(({ status }) => status === 201);
  made.push(...good.map((each) => bodyOf(each)['id']));
  expect(made).toHaveLength(20);
  for (const answer of last.filter((each) => !good.includes(each))) {
    expectError(answer, 403, 'webhook_limit_reached');
  }
  expect(new Set(await idsOf(full))).toEqual(new Set(made));
  expect(await idsOf(other)).toEqual([]);
  const path = `/api/webhooks/${String(made[0])}`;
  expectError(await other.delete(path), 404, 'webhook_not_found');
  await full.delete(path).expect(200);
  await full.post('/api/webhooks', body).expect(201);
});

test('a retry with the same key creates no second webhook, and does not show the secret', async () => {
  const backend = await backendOf(service, 'repeater');
  const make = () =>
    backend
      .post('/api/webhooks', { url: URL, events: ['plant.created'] })
      .set('Idempotency-Key', 'a key');
  const { id, secret } = bodyOf(await make().expect(201));
  const again = await make().expect(409);
  expect(again.text).toContain(String(id));
  expect(again.text).not.toContain(String(secret));
  expect(await idsOf(backend)).toEqual([id]);
});

test('deliveries are listed newest first, each on one page', async () => {
  const backend = await backendOf(service, 'lister');
  const { id, path } = await webhookOf(backend, URL, 'plant.created');
  const ada = await service.user();
  for (const name of ['Fern', 'Ivy', 'Moss']) await ada.plant({ name });
  setClock(Date.now() + 60_000);
  const tested = bodyOf(await backend.post(`${path}/test`).expect(201));
  expect(tested).toEqual({
    id: anyId,
    type: 'webhook.test',
    userId: backend.id,
    status: 'waiting',
    attempts: 0,
    createdAt: anyInstant,
    lastAttemptAt: null,
    nextAttemptAt: anyInstant,
    responseStatus: null,
    error: null,
  });
  const seen: Record<string, unknown>[] = [];
  for (let cursor = ''; ;) {
    const query = `limit=1${cursor && `&cursor=${cursor}`}`;
    const page = bodyOf(await backend.get(`${path}/deliveries?${query}`).expect(200));
    const items = records(page['items']);
    seen.push(...items);
    if (page['hasMore'] === false) break;
    cursor = String(page['nextCursor']);
  }
  expect(seen.map(({ type, userId }) => [type, userId])).toEqual([
    ['webhook.test', backend.id],
    ...Array.from({ length: 3 }, () => ['plant.created', ada.id]),
  ]);
  expect(seen[0]).toEqual(tested);
  const other = await webhookOf(backend, URL, 'plant.created');
  const { nextCursor } = bodyOf(await backend.get(`${path}/deliveries?limit=1`));
  const foreign = await backend.get(`${other.path}/deliveries?cursor=${String(nextCursor)}`);
  expectError(foreign, 400, 'invalid_cursor');
  expect(record(tested)['id']).not.toBe(id);
});

test('no connection is made to a name that resolves to a private address', async () => {
  const own = await startService({ jobs: false });
  const connections: unknown[] = [];
  const server = createServer((socket) => {
    connections.push(socket.destroy());
  });
  const backend = await backendOf(own, 'private');
  const url = `https://localhost:${await listening(server)}/hooks`;
  const { path } = await webhookOf(backend, url, 'account.deleted');
  await backend.post(`${path}/test`).expect(201);
  await own.runJob('webhook delivery');
  const { items } = bodyOf(await backend.get(`${path}/deliveries`).expect(200));
  expect(items).toMatchObject([
    { attempts: 1, responseStatus: null, error: 'The URL must be a public address.' },
  ]);
  expect(connections).toEqual([]);
  server.close();
  await own.close();
});

test.each([
  'care.due',
  'plant.created',
  'plant.deleted',
  'photo.deleted',
  'account.deleted',
  'tier.changed',
  'account.changed',
])('a sample of %s is about the backend itself, which is no account of a person', async (type) => {
  const backend = await backendOf(service, `sampler-${type}`);
  const { path } = await webhookOf(backend, URL, 'account.deleted');
  const made = bodyOf(await backend.post(`${path}/test`, { type }).expect(201));
  expect(made).toMatchObject({ type, userId: backend.id, status: 'waiting' });
  const again = bodyOf(await backend.post(`${path}/test`, { type }).expect(201));
  expect(again['id']).toBe(made['id']);
  const usual = bodyOf(await backend.post(`${path}/test`, {}).expect(201));
  expect(usual).toMatchObject({ type: 'webhook.test' });
  expect(faultsOf(await backend.post(`${path}/test`, { type: 'plant.watered' }))).toEqual(['type']);
});

test('a test that still waits is sent again in place of a second one', async () => {
  const backend = await backendOf(service, 'tester');
  const { path } = await webhookOf(backend, URL, 'account.deleted');
  await backend.patch(path, { active: false }).expect(200);
  const first = bodyOf(await backend.post(`${path}/test`).expect(201));
  const second = bodyOf(await backend.post(`${path}/test`).expect(201));
  expect(second['id']).toBe(first['id']);
  const { items } = bodyOf(await backend.get(`${path}/deliveries`).expect(200));
  expect(items).toMatchObject([{ id: first['id'], status: 'waiting' }]);
});
