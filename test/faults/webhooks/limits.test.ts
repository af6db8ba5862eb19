import { webhookOf } from '../../../plugins/webhooks/test/receiver';
import { newId, type StoredId } from '../../../src/core/ids';
import { backendOf } from '../../support/backend';
import { record, records } from '../../support/client';
import { startService } from '../../support/program';
import type { TestService, TestUser } from '../../support/service';
import { bodyOf } from '../../support/shapes';

const MAX = 100_000;
const BATCH = 10_000;

let service: TestService;
let shop: TestUser;

beforeAll(async () => {
  service = await startService({ jobs: false });
  shop = await backendOf(service, 'shop');
});
afterAll(() => service.close());

const deliveries = () =>
  service.app.database.connection.collection<{ _id: StoredId }>('webhookDeliveries');

test('the waiting deliveries of a webhook are limited, and so are the listed ones', async () => {
  const { path, id } = await webhookOf(shop, 'https://shop.example.com/', 'account.deleted');
  await shop.post(`${path}/test`).expect(201);
  const { _id, ...one } = record(await deliveries().findOne({}));
  expect(_id).toBeDefined();
  const copy = (fields: object = {}) => ({ ...one, ...fields, _id: newId() });
  for (let stored = 1; stored < MAX; stored += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, MAX - stored) }, () => copy());
    await deliveries().insertMany(batch, { ordered: false });
  }
  const webhook = async () =>
    records(bodyOf(await shop.get('/api/webhooks').expect(200))['items']).find(
      (each) => each['id'] === id,
    );
  await service.runJob('webhook cleanup');
  expect(await webhook()).toMatchObject({ active: true });
  await deliveries().insertMany([copy()]);
  await service.runJob('webhook cleanup');
  expect(await webhook()).toMatchObject({ active: false, inactiveReason: 'full' });

  const waiting = { status: 'waiting' };
  for (;;) {
    const some = await deliveries().find(waiting).project({ _id: 1 }).limit(BATCH).toArray();
    if (some.length === 0) break;
    const _id = { $in: some.map((each) => each['_id'] as StoredId) }; // As it is stored.
    await deliveries().updateMany({ _id }, { $set: { status: 'delivered', nextAttemptAt: null } });
  }
  const createdAt = new Date(Date.now() - 60_000);
  await deliveries().insertMany([copy({ status: 'delivered', createdAt })]);
  await service.runJob('webhook cleanup');
  expect(await deliveries().countDocuments()).toBe(MAX);
  expect(await deliveries().countDocuments({ createdAt })).toBe(0);
});
