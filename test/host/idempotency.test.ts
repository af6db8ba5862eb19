import { randomUUID } from 'node:crypto';

import type { Response } from 'supertest';

import { until } from '../support/processes';
import { several } from '../support/several';
import type { TestService, TestUser } from '../support/service';
import { idempotencyKeyModel, startService, userOf } from '../support/program';

let one: TestService;
let two: TestService;

beforeAll(async () => {
  // Two processes on one database, with a limit of one plant for free accounts.
  const env = { TIER_FREE_PLANTS: '1' };
  one = await startService({ env });
  two = await startService({ env, mongodbUri: one.mongodbUri });
});
afterAll(async () => {
  await two.close();
  await one.close();
});

function keyed(user: TestUser, key: string, body: object, path = '/api/plants') {
  return user.post(path, body).set('Idempotency-Key', key);
}

async function plantsOf(user: TestUser): Promise<Record<string, unknown>[]> {
  const list = await user.get('/api/plants').expect(200);
  return list.body as Record<string, unknown>[];
}

test.each([
  ['POST /api/plants', '/api/plants', { name: 'Fern' }],
  [
    'POST /api/photos',
    '/api/photos',
    {
      imagehostPublicId: 'a',
      secureUrl: 'https://a.example/b',
      width: 1,
      height: 1,
      format: 'png',
    },
  ],
  ['POST /api/plants/{id}/events', 'events', { text: 'Much water' }],
])(
  'a retry of %s gets the first response again and has no second effect',
  async (_, path, body) => {
    const user = await one.user();
    const plant = await user.plant();
    const at = path === 'events' ? `/api/plants/${plant.id}/events` : path;
    const key = randomUUID();
    const first = await keyed(user, key, body, at).expect(201);
    const again = await keyed(user, key, body, at).expect(201);
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.text).toBe(first.text);
    expect(again.headers['content-type']).toBe(first.headers['content-type']);
    const { overview } = (await user.get('/api/insights').expect(200)).body as { overview: object };
    expect(overview).toMatchObject({
      totalPlants: path === '/api/plants' ? 2 : 1,
      totalPhotos: path === '/api/photos' ? 1 : 0,
      totalEvents: path === 'events' ? 1 : 0,
    });
  },
);

test('without a key, or with another one, the same request takes effect each time', async () => {
  const user = await one.user();
  await user.plant({ name: 'Fern' });
  await user.plant({ name: 'Fern' });
  await keyed(user, 'a', { name: 'Fern' }).expect(201);
  await keyed(user, 'b', { name: 'Fern' }).expect(201);
  expect(await plantsOf(user)).toHaveLength(4);
});

test('the first response is replayed even if its record was deleted', async () => {
  const user = await one.user();
  const first = await keyed(user, 'k', { name: 'Fern' }).expect(201);
  await user.delete(`/api/plants/${(first.body as { id: string }).id}`).expect(200);
  const again = await keyed(user, 'k', { name: 'Fern' }).expect(201);
  expect(again.body).toEqual(first.body);
  expect(await plantsOf(user)).toEqual([]);
});

test('another process replays the response of the first one', async () => {
  const user = await one.user();
  const first = await keyed(user, 'k', { name: 'Fern' }).expect(201);
  const elsewhere = userOf(two.url, user.id, user.token);
  const again = await keyed(elsewhere, 'k', { name: 'Fern' }).expect(201);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.body).toEqual(first.body);
});

test('the same key with another body gets 422 and has no effect', async () => {
  const user = await one.user();
  await keyed(user, 'k', { name: 'Fern' }).expect(201);
  const other = await keyed(user, 'k', { name: 'Ivy' }).expect(422);
  expect(other.body).toEqual({
    error: 'This Idempotency-Key has been used with another request.',
    code: 'idempotency_mismatch',
  });
  expect((await plantsOf(user)).map(({ name }) => name)).toEqual(['Fern']);
});

test('the same key with the same body for another record gets 422', async () => {
  const user = await one.user({ tier: 'pro' });
  const [first, second] = [await user.plant(), await user.plant()];
  await keyed(user, 'k', {}, `/api/plants/${first.id}/events`).expect(201);
  await keyed(user, 'k', {}, `/api/plants/${second.id}/events`).expect(422);
  await keyed(user, 'k', {}, `/api/plants/${second.id}/unarchive`).expect(422);
});

test('a retry that is formatted differently gets the first response', async () => {
  const user = await one.user();
  const first = await keyed(user, 'k', { name: 'Fern', species: 'Nephrolepis' }).expect(201);
  const again = await keyed(user, 'k', { toxic: false, species: 'Nephrolepis', name: 'Fern' });
  expect([again.status, again.body]).toEqual([201, first.body]);
  expect(again.headers['idempotent-replayed']).toBe('true');
  const { id } = first.body as { id: string };
  const log = (of: string) => user.post(`/api/plants/${of}/events`).set('Idempotency-Key', 'e');
  const event = await log(id).expect(201);
  expect((await log(id.toUpperCase()).expect(201)).body).toEqual(event.body);
});

test('two accounts can use the same key', async () => {
  const [ada, bob] = await Promise.all([one.user(), one.user()]);
  const first = await keyed(ada, 'k', { name: 'Fern' }).expect(201);
  const other = await keyed(bob, 'k', { name: 'Ivy' }).expect(201);
  expect(other.headers).not.toHaveProperty('idempotent-replayed');
  expect(other.body).toMatchObject({ userId: bob.id, name: 'Ivy' });
  expect((first.body as { userId: string }).userId).toBe(ada.id);
});

test('while the first request is running, a second one gets 409', async () => {
  const user = await one.user();
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  // An earlier write in the account's queue keeps the first one from ending.
  const ahead = one.app.writeQueue.run(user.id, () => gate);
  const sends = [keyed(user, 'k', { name: 'Fern' }), keyed(user, 'k', { name: 'Fern' })];
  const answers = sends.map((send) => send.then((answer) => answer));
  const early = await Promise.race(answers);
  expect(early.status).toBe(409);
  expect(early.body).toEqual({
    error: 'A request with this Idempotency-Key is still running.',
    code: 'idempotency_conflict',
  });
  release();
  await ahead;
  const all = await Promise.all(answers);
  expect(all.map(({ status }) => status).sort()).toEqual([201, 409]);
  await keyed(user, 'k', { name: 'Fern' }).expect(201).expect('Idempotent-Replayed', 'true');
  expect(await plantsOf(user)).toHaveLength(1);
});

/** Expects each response to be the first one or "still running", and one effect. */
async function expectOneEffect(user: TestUser, answers: readonly Response[]): Promise<void> {
  const done = answers.filter(({ status }) => status === 201);
  expect(done.length).toBeGreaterThan(0);
  expect(new Set(done.map(({ text }) => text)).size).toBe(1);
  expect(done.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(
    1,
  );
  expect(new Set(answers.map(({ status }) => status))).not.toContain(422);
  for (const { status } of answers) expect([201, 409]).toContain(status);
  expect(await plantsOf(user)).toHaveLength(1);
}

test('many concurrent requests to one process have one effect', async () => {
  const user = await one.user();
  const sends = Array.from({ length: 30 }, () => keyed(user, 'k', { name: 'Fern' }));
  await expectOneEffect(user, await Promise.all(sends));
});

test('concurrent requests to two processes have one effect', async () => {
  await several(5, async () => {
    const user = await one.user();
    const elsewhere = userOf(two.url, user.id, user.token);
    const sends = [user, elsewhere].map((each) => keyed(each, 'k', { name: 'Fern' }));
    await expectOneEffect(user, await Promise.all(sends));
  });
});

test('if one request needs the last free place in two processes, both return its response', async () => {
  await several(5, async () => {
    const user = await one.user({ tier: 'free' });
    const elsewhere = userOf(two.url, user.id, user.token);
    const sends = [user, elsewhere].map((each) => keyed(each, 'k', { name: 'Fern' }));
    await expectOneEffect(user, await Promise.all(sends));
  });
});

test('if one request deletes the same events in two processes, both return its response', async () => {
  await several(5, async () => {
    const user = await one.user();
    const elsewhere = userOf(two.url, user.id, user.token);
    const { id } = await user.plant();
    const event = await user.event(id);
    const sends = [user, elsewhere].map((each) =>
      keyed(each, 'k', { eventIds: [event.id] }, '/api/events/delete'),
    );
    for (const { status, body } of await Promise.all(sends)) {
      expect({ status, body: body as unknown }).toEqual({ status: 200, body: { success: true } });
    }
  });
});

test('404 is stored like a success', async () => {
  const user = await one.user();
  const path = `/api/plants/${randomUUID()}/events`;
  const first = await keyed(user, 'k', {}, path).expect(404);
  const again = await keyed(user, 'k', {}, path).expect(404);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.body).toEqual(first.body);
  await keyed(user, 'k', { text: 'Another body' }, path).expect(422);
});

/** Moves the stored response of the key "k" into the past. */
async function age(service: TestService, user: TestUser, hours: number): Promise<void> {
  await service.app.database
    .model(idempotencyKeyModel)
    .updateOne(
      { userId: user.id, key: 'k' },
      { $set: { createdAt: new Date(Date.now() - hours * 60 * 60 * 1000) } },
    );
}

test.each([
  ['7 days', 168, {}],
  ['as many hours as the operator sets', 30, { IDEMPOTENCY_KEEP_HOURS: '30' }],
])('a response is stored for %s', async (_time, hours, env) => {
  const service = await startService({ env, jobs: false });
  try {
    const user = await service.user();
    const first = await keyed(user, 'k', { name: 'Fern' }).expect(201);
    await age(service, user, hours - 0.1);
    const again = await keyed(user, 'k', { name: 'Fern' }).expect(201);
    expect(again.body).toEqual(first.body);
    await age(service, user, hours + 0.1);
    const anew = await keyed(user, 'k', { name: 'Fern' }).expect(201);
    expect(anew.headers).not.toHaveProperty('idempotent-replayed');
    expect(await plantsOf(user)).toHaveLength(2);
  } finally {
    await service.close();
  }
});

test('a start with another IDEMPOTENCY_KEEP_HOURS changes the expiry and keeps stored responses', async () => {
  const secondsOf = async (service: TestService) => {
    const indexes = await service.app.database.model(idempotencyKeyModel).collection.indexes();
    return indexes.find(({ key }) => 'createdAt' in key)?.expireAfterSeconds;
  };
  const before = await startService({ env: { IDEMPOTENCY_KEEP_HOURS: '24' } });
  const { mongodbUri } = before;
  try {
    await until(async () => (await secondsOf(before)) === 24 * 60 * 60);
    const user = await before.user();
    const first = await keyed(user, 'k', { name: 'Fern' }).expect(201);
    // A command may run without the server's settings, and changes nothing.
    const command = await startService({ mongodbUri, jobs: false });
    expect(await secondsOf(command)).toBe(24 * 60 * 60);
    await command.close();
    const after = await startService({ mongodbUri });
    await until(async () => (await secondsOf(after)) === 7 * 24 * 60 * 60);
    const again = await keyed(userOf(after.url, user.id, user.token), 'k', { name: 'Fern' });
    expect([again.status, again.body]).toEqual([201, first.body]);
    await after.close();
  } finally {
    await before.close();
  }
});

test.each([
  [1, 201],
  [255, 201],
  [0, 400],
  [256, 400],
])('a key of %i characters gets %i', async (length, status) => {
  const user = await one.user();
  const answer = await keyed(user, 'k'.repeat(length), { name: 'Fern' }).expect(status);
  expect(await plantsOf(user)).toHaveLength(status === 201 ? 1 : 0);
  if (status === 400) {
    expect(answer.body).toEqual({
      error: 'The header Idempotency-Key must have 1 to 255 characters.',
      code: 'validation_error',
    });
  }
});
