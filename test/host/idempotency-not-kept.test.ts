import { randomUUID } from 'node:crypto';

import type { TestService, TestUser } from '../support/service';
import { startService, userOf } from '../support/program';

let one: TestService;
let tight: TestService;

beforeAll(async () => {
  one = await startService();
  // Another process on the same database, with low limits.
  const env = { TIER_FREE_PLANTS: '1', RATE_LIMIT_PLANTS_CREATE_MAX: '1' };
  tight = await startService({ mongodbUri: one.mongodbUri, redisUrl: null, env });
});
afterAll(async () => {
  await tight.close();
  await one.close();
});

function keyed(user: TestUser, key: string, body: object) {
  return user.post('/api/plants', body).set('Idempotency-Key', key);
}

describe('responses that are not stored', () => {
  test('a validation error, so the corrected request may have the same key', async () => {
    const user = await one.user();
    await keyed(user, 'k', { name: '' }).expect(400);
    const corrected = await keyed(user, 'k', { name: 'Fern' }).expect(201);
    expect(corrected.headers).not.toHaveProperty('idempotent-replayed');
  });

  test('a reference to an unknown record', async () => {
    const user = await one.user();
    await keyed(user, 'k', { name: 'Fern', primaryPhotoId: randomUUID() }).expect(400);
    await keyed(user, 'k', { name: 'Fern' }).expect(201);
  });

  test('401', async () => {
    const user = await one.user();
    const send = keyed(user, 'k', { name: 'Fern' }).set('Authorization', 'Bearer nothing');
    await send.expect(401);
    await keyed(user, 'k', { name: 'Ivy' }).expect(201);
  });

  test('403 for a missing scope', async () => {
    const reader = await one.user({ scopes: ['plants:read'] });
    const writer = await one.user({ id: reader.id });
    await keyed(reader, 'k', { name: 'Fern' }).expect(403);
    await keyed(writer, 'k', { name: 'Fern' }).expect(201);
  });

  test('403 for a full quota', async () => {
    const user = await tight.user({ tier: 'free' });
    const plant = await userOf(one.url, user.id, user.token).plant();
    await keyed(user, 'k', { name: 'Ivy' }).expect(403);
    await user.delete(`/api/plants/${plant.id}`).expect(200);
    await keyed(userOf(one.url, user.id, user.token), 'k', { name: 'Ivy' }).expect(201);
  });

  test('429', async () => {
    const user = await tight.user();
    await user.plant();
    await keyed(user, 'k', { name: 'Ivy' }).expect(429);
    const elsewhere = userOf(one.url, user.id, user.token);
    const later = await keyed(elsewhere, 'k', { name: 'Ivy' }).expect(201);
    expect(later.headers).not.toHaveProperty('idempotent-replayed');
  });
});
