import { randomUUID } from 'node:crypto';

import { countThrough } from '../../../test/support/quotas';
import type { TestService, TestUser } from '../../../test/support/service';
import { expectError } from '../../../test/support/shapes';
import { accountsPlugin, differencesOf, startService, userOf } from '../../../test/support/program';

const FREE = 5;

let one: TestService;
let two: TestService;

beforeAll(async () => {
  const env = { TIER_FREE_EVENTS: String(FREE), TIER_PRO_EVENTS: '8' };
  one = await startService({ env, jobs: false });
  two = await startService({ env, jobs: false, mongodbUri: one.mongodbUri });
});
afterAll(async () => {
  await two.close();
  await one.close();
});

function add(user: TestUser, plantId: string) {
  return user.post(`/api/plants/${plantId}/events`, {});
}

test('an account can log as many events as its tier allows, then gets 403 with the number', async () => {
  const user = await one.user({ tier: 'free' });
  const { id } = await user.plant();
  for (let count = 0; count < FREE; count += 1) await user.event(id);
  expectError(await add(user, id), 403, 'feature_not_available', /\b5\b/);
  const pro = await one.user({ tier: 'pro' });
  const plant = await pro.plant();
  expect(await countThrough(() => add(pro, plant.id), 12, 'feature_not_available')).toBe(8);
});

test('the limit is exact when two processes log thirty events at once', async () => {
  const user = await one.user({ tier: 'free' });
  const { id } = await user.plant();
  const users = [user, userOf(two.url, user.id, user.token)];
  let turn = 0;
  const send = () => add(users[(turn += 1) % 2] ?? user, id);
  expect(await countThrough(send, 30, 'feature_not_available')).toBe(FREE);
  const events = one.app.database.connection.collection('events');
  expect(await events.countDocuments({ userId: user.id })).toBe(FREE);
  expect(await differencesOf(one.app, user.id)).toEqual([]);
});

test('deleted events, and those of deleted plants, still count', async () => {
  const user = await one.user({ tier: 'free' });
  const first = await user.plant();
  for (let count = 0; count < FREE; count += 1) {
    const event = await user.event(first.id);
    if (count > 2) await user.delete(`/api/events/${event.id}`).expect(200);
  }
  const { id } = await user.plant();
  expectError(await add(user, id), 403, 'feature_not_available');
  await user.delete(`/api/plants/${first.id}`).expect(200);
  expectError(await add(user, id), 403, 'feature_not_available');
  expect(await differencesOf(one.app, user.id)).toEqual([]);
});

test('refused events and retries do not count', async () => {
  const user = await one.user({ tier: 'free' });
  const { id } = await user.plant();
  await user.post(`/api/plants/${id}/events`, { type: 'pruned' }).expect(400);
  await user.post(`/api/plants/${id}/events`, { photoIds: [randomUUID()] }).expect(400);
  await add(user, randomUUID()).expect(404);
  for (let count = 0; count < 3; count += 1) await add(user, id).set('Idempotency-Key', 'k');
  expect(await countThrough(() => add(user, id), FREE, 'feature_not_available')).toBe(FREE - 1);
  expect(await differencesOf(one.app, user.id)).toEqual([]);
});

test('an account over the limit of its new tier can change events but not log any', async () => {
  const user = await one.user({ tier: 'pro' });
  const { id } = await user.plant();
  const events = await Promise.all(Array.from({ length: FREE + 1 }, () => user.event(id)));
  await one.app.exportsOf(accountsPlugin).changeAccount(user.id, { tier: 'free' });
  await user.patch(`/api/events/${events[0]?.id ?? ''}`, { text: 'Much' }).expect(200);
  expectError(await add(user, id), 403, 'feature_not_available');
});

test('the next write counts events that were logged before the limit existed', async () => {
  const user = await one.user({ tier: 'free' });
  const { id } = await user.plant();
  for (let count = 0; count < FREE - 1; count += 1) await user.event(id);
  const forget = { $unset: { 'usage.events': 1 } } as const;
  await one.app.database.connection
    .collection<{ _id: string }>('accounts')
    .updateOne({ _id: user.id }, forget);
  expect(await differencesOf(one.app, user.id)).toEqual([]);
  await user.event(id);
  expectError(await add(user, id), 403, 'feature_not_available');
  expect(await differencesOf(one.app, user.id)).toEqual([]);
});
