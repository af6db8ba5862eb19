import { randomUUID } from 'node:crypto';

import { DAY_MS } from '../../src/core/time';
import { records } from '../support/client';
import type { TestService, TestUser } from '../support/service';
import { expectError } from '../support/shapes';
import {
  idempotencyKeyModel,
  dayOf,
  idempotencyUsageModel,
  differencesOf,
  startService,
  userOf,
} from '../support/program';

let one: TestService;
let two: TestService;

/** IDEMPOTENCY_MB_PER_DAY in bytes. */
const LIMIT = 1_000_000;

beforeAll(async () => {
  const env = { IDEMPOTENCY_MB_PER_DAY: '1' };
  one = await startService({ env });
  two = await startService({ env, mongodbUri: one.mongodbUri });
});
afterAll(async () => {
  await two.close();
  await one.close();
});

const FERN = { name: 'Fern' };

function keyed(user: TestUser, key: string, body: object = FERN, path = '/api/plants') {
  return user.post(path, body).set('Idempotency-Key', key);
}

async function countPlants(user: TestUser): Promise<number> {
  return records((await user.get('/api/plants').expect(200)).body).length;
}

/** Leaves an account so many bytes for today. */
function leave(user: TestUser, bytes: number): Promise<unknown> {
  const today = { userId: user.id, day: dayOf(new Date()) };
  const usage = one.app.database.model(idempotencyUsageModel);
  return usage.updateOne(today, { $set: { bytes: LIMIT - bytes } }, { upsert: true });
}

/** The stored response of a key. */
function stored(user: TestUser, key: string) {
  return one.app.database.model(idempotencyKeyModel).findOne({ userId: user.id, key }).lean();
}

test('a long response is stored compressed, and replayed byte for byte', async () => {
  const user = await one.user();
  const body = { name: 'Fern 🌿', notes: '\u0001'.repeat(1000), careNotes: '龟'.repeat(1000) };
  const first = await keyed(user, 'k', body).expect(201);
  const again = await keyed(user, 'k', body).expect(201).expect('Idempotent-Replayed', 'true');
  expect(again.text).toBe(first.text);
  expect((await stored(user, 'k'))?.bytes).toBeLessThan(first.text.length / 2);
});

test('over the daily limit, requests with a key get 429 and have no effect', async () => {
  const user = await one.user();
  await keyed(user, 'size').expect(201);
  const size = (await stored(user, 'size'))?.bytes ?? 0;
  // Enough for two responses, but not for a third.
  await leave(user, 2.5 * size);
  const elsewhere = userOf(two.url, user.id, user.token);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      keyed(index % 2 === 0 ? user : elsewhere, `k${index}`),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(18);
  for (const answer of refused) {
    expectError(answer, 429, 'rate_limited', /Idempotency-Key/);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(DAY_MS / 1000);
  }
  expect(await countPlants(user)).toBe(3);
});

test('over the limit, requests without a key and retries of earlier ones succeed', async () => {
  const user = await one.user();
  await keyed(user, 'k').expect(201);
  await leave(user, 0);
  await user.plant();
  await keyed(user, 'k').expect(201).expect('Idempotent-Replayed', 'true');
});

test('with no space left, concurrent requests to two processes with one key all get the first response', async () => {
  const user = await one.user();
  await keyed(user, 'size').expect(201);
  const size = (await stored(user, 'size'))?.bytes ?? 0;
  await leave(user, 1.5 * size);
  const elsewhere = userOf(two.url, user.id, user.token);
  const answers = await Promise.all([keyed(user, 'k'), keyed(elsewhere, 'k')]);
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  expect(answers[0].text).toBe(answers[1].text);
  expect(await countPlants(user)).toBe(2);
});

test('stored responses are counted to the byte, including 404 but not retries', async () => {
  const user = await one.user();
  for (const key of ['a', 'b', 'a']) await keyed(user, key).expect(201);
  await keyed(user, 'c', {}, `/api/plants/${randomUUID()}/events`).expect(404);
  expect(await differencesOf(one.app, user.id)).toEqual([]);
});

test('the limit resets each day', async () => {
  const user = await one.user();
  await leave(user, 0);
  await keyed(user, 'k').expect(429);
  const yesterday = new Date(dayOf(new Date()).getTime() - DAY_MS);
  await one.app.database
    .model(idempotencyUsageModel)
    .updateOne({ userId: user.id }, { $set: { day: yesterday } });
  await keyed(user, 'k').expect(201);
  expect(await differencesOf(one.app, user.id)).toEqual([]);
});

test('the usage of each account is separate', async () => {
  const users = await Promise.all(Array.from({ length: 16 }, () => one.user()));
  const isFull = (index: number): boolean => index % 2 === 1;
  await Promise.all(users.filter((_, index) => isFull(index)).map((user) => leave(user, 10)));
  const answers = await Promise.all(users.map((user) => keyed(user, 'at once')));
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toEqual(users.map((_, index) => (isFull(index) ? 429 : 201)));
});

test('a 404 that cannot be stored is sent all the same, and a retry is a new request', async () => {
  const events = `/api/plants/${randomUUID()}/events`;
  const collection = one.app.database.model(idempotencyKeyModel).collection.name;
  const validate = (validator: object) =>
    one.app.database.connection.db?.command({ collMod: collection, validator });
  const other = await one.user();
  await validate({ userId: { $ne: other.id } });
  try {
    expectError(await keyed(other, 'k', {}, events), 404, 'plant_not_found');
  } finally {
    await validate({});
  }
  const retry = await keyed(other, 'k', {}, events);
  expectError(retry, 404, 'plant_not_found');
  expect(retry.headers).not.toHaveProperty('idempotent-replayed');
  expect(one.logged.join('')).toContain('A 404 was not stored for its retries');
});
