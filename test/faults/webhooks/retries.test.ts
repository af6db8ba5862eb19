import { deliveriesOf, Receiver, webhookOf } from '../../../plugins/webhooks/test/receiver';
import { backendOf } from '../../support/backend';
import { records } from '../../support/client';
import { until } from '../../support/processes';
import { startService } from '../../support/program';
import type { TestService, TestUser } from '../../support/service';
import { bodyOf } from '../../support/shapes';

let service: TestService;
let shop: TestUser;
let receiver: Receiver;

beforeAll(async () => {
  service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
  shop = await backendOf(service, 'shop');
});
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  for (const { id } of records(bodyOf(await shop.get('/api/webhooks').expect(200))['items'])) {
    await shop.delete(`/api/webhooks/${String(id)}`).expect(200);
  }
  await receiver.close();
});
afterAll(() => service.close());

test('a running server retries a failed delivery within 10 s', async () => {
  await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await service.user();
  const failures: (number | 'reset')[] = [500, 'reset'];
  receiver.answer = () => failures.shift() ?? 200;
  await ada.plant();
  const [first = 0, second = 0, third = 0] = (await receiver.until(ada.id, 3)).map(({ at }) => at);
  expect(second - first).toBeGreaterThan(4000);
  expect(second - first).toBeLessThan(10_000);
  expect(third - second).toBeGreaterThan(second - first);
});

test('a receiver that never responds fails after 10 s, and does not delay others', async () => {
  const other = await Receiver.start();
  receiver.answer = () => 'never';
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  await webhookOf(shop, other.url, 'plant.created');
  const ada = await service.user();
  await ada.plant();
  await receiver.until(ada.id, 1);
  await ada.plant();
  await other.until(ada.id, 2);
  expect(await deliveriesOf(shop, path)).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
  await until(async () => Number((await deliveriesOf(shop, path))[1]?.['attempts']) === 1);
  expect((await deliveriesOf(shop, path))[1]).toMatchObject({
    responseStatus: null,
    error: 'There was no response within 10 seconds.',
  });
  await other.close();
});

test('a server that stops aborts a delivery without a response', async () => {
  const env = { WEBHOOK_ALLOW_PRIVATE: 'true' };
  const base = await startService({ jobs: false, env });
  const stopping = await startService({ mongodbUri: base.mongodbUri, env });
  const store = await backendOf(base, 'store');
  receiver.answer = () => 'never';
  const { path } = await webhookOf(store, receiver.url, 'plant.created');
  const ada = await base.user();
  await ada.plant();
  await receiver.until(ada.id, 1);
  await stopping.close();
  // Had it waited for the time-out, there would be a failed attempt.
  const { items } = bodyOf(await store.get(`${path}/deliveries`).expect(200));
  expect(items).toMatchObject([{ status: 'waiting', attempts: 0 }]);
  await base.close();
});

test('a response with an endless body counts by its status, and no second request is open meanwhile', async () => {
  receiver.answer = () => 'dripping';
  const { path } = await webhookOf(shop, receiver.url, 'plant.created');
  const ada = await service.user();
  await ada.plant();
  await ada.plant();
  await until(async () => (await deliveriesOf(shop, path))[1]?.['status'] === 'delivered');
  await receiver.until(ada.id, 2);
  expect(receiver.mostAtOnce).toBe(1);
});
