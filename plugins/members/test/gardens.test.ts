import { record, records } from '../../../test/support/client';
import { callTool } from '../../../test/mcp/support';
import { until as eventually } from '../../../test/support/processes';
import { accountsPlugin, startService, userOf } from '../../../test/support/program';
import { send } from '../../../test/support/raw';
import type { TestService, TestUser } from '../../../test/support/service';
import { several } from '../../../test/support/several';
import { anyInstant, bodyOf, expectError, listOf } from '../../../test/support/shapes';
import { letIn } from '../../../test/support/sharing';

let service: TestService;
let ada: TestUser;
let ben: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  [ada, ben] = await Promise.all([service.user(), service.user()]);
});
afterAll(() => service.close());

const MEMBERS = '/api/account/members';

function asBen(path: string, headers: Record<string, string | string[]>) {
  return send(service.url, 'GET', path, {
    headers: { Authorization: `Bearer ${ben.token}`, ...headers },
  });
}

async function namesOf(answer: Parameters<typeof listOf>[0]): Promise<unknown[]> {
  return listOf(answer).map(({ name }) => name);
}

test('a member reads and writes in the garden of another, which stays apart from their own', async () => {
  await letIn(ada, ben, { role: 'gardener' });
  await ben.plant({ name: 'Own' });
  const { id } = await ada.plant({ name: 'Fern' });
  const made = await ben.post('/api/plants', { name: 'Ivy' }).set('Garden', ada.id).expect(201);
  expect(made.body).toMatchObject({ userId: ada.id });
  await ben.post(`/api/plants/${id}/events`, {}).set('Garden', ada.id).expect(201);
  const shared = await ben.get('/api/plants').set('Garden', ada.id).expect(200);
  expect(await namesOf(shared)).toEqual(['Fern', 'Ivy']);
  expect((await ada.get('/api/plants').expect(200)).body).toEqual(shared.body);
  for (const own of [{}, { Garden: ben.id }]) {
    expect(await namesOf(await ben.get('/api/plants').set(own).expect(200))).toEqual(['Own']);
  }
});

test.each([
  ['nothing', ''],
  ['spaces', '   '],
  ['nonsense', '{"$ne":null}'],
  ['an escape that is none', '%'],
  ['the id with more after it', (owner: string) => `${owner} `.repeat(2)],
  ['the id in capitals', (owner: string) => owner.toUpperCase()],
  ['the id twice', (owner: string) => [owner, owner]],
  ["the id and one's own", (owner: string, own: string) => [owner, own]],
  ["one's own twice", (_owner: string, own: string) => [own, own]],
])('a header Garden with %s is 404', async (_what, value) => {
  await letIn(ada, ben);
  const garden = typeof value === 'function' ? value(ada.id, ben.id) : value;
  const answer = await asBen('/api/plants', { Garden: garden });
  expect([answer.status, (JSON.parse(answer.body) as { code: string }).code]).toEqual([
    404,
    'garden_not_found',
  ]);
});

test('an id beyond ASCII is percent-encoded in the header', async () => {
  const owner = await service.user({ id: `吉田 ${ada.id}` });
  await letIn(owner, ben);
  const answer = await asBen('/api/plants', { Garden: encodeURIComponent(owner.id) });
  expect(answer.status).toBe(200);
  await ben.delete(`/api/gardens/${encodeURIComponent(owner.id)}`).expect(200);
});

test('tier, limits, zone, day and language are those of the garden; the time of reminders is the caller’s', async () => {
  const owner = await service.user({ tier: 'free', timezone: 'Pacific/Kiritimati' });
  await owner.patch('/api/account', { remindAt: '06:30' }).expect(200);
  await letIn(owner, ben, { role: 'carer' });
  const { token, ...account } = bodyOf(
    await ben.get('/api/account').set('Garden', owner.id).expect(200),
  );
  const { token: _own, ...own } = bodyOf(await owner.get('/api/account').expect(200));
  // When a person is reminded is of nobody else.
  expect({ ...account, now: anyInstant }).toEqual({ ...own, now: anyInstant, remindAt: '07:00' });
  expect(record(token)['scopes']).toEqual(
    expect.arrayContaining(['plants:read', 'insights:read', 'events:write']),
  );
  expect(record(token)['scopes']).not.toContain('plants:write');
  const { id } = await owner.plant();
  const month = `/api/plants/${id}/events/month?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z`;
  const refused = await ben.get(month).set('Garden', owner.id);
  expectError(refused, 403, 'feature_not_available', /free tier/);
});

test('a token without a scope lacks it in every role', async () => {
  await letIn(ada, ben, { role: 'gardener' });
  const scoped = await service.user({ id: ben.id, scopes: ['plants:read'] });
  const refused = await scoped.post('/api/plants', { name: 'Fern' }).set('Garden', ada.id);
  expectError(refused, 403, 'insufficient_scope', /^The token lacks the scope plants:write\.$/);
});

test('the same Idempotency-Key of the owner and of members never meets', async () => {
  const cleo = await service.user();
  await letIn(ada, ben, { role: 'gardener' });
  await letIn(ada, cleo, { role: 'gardener' });
  const made = await Promise.all(
    [ada, ben, cleo].map((each, index) =>
      each
        .post('/api/plants', { name: `Plant ${index}` })
        .set({ Garden: ada.id, 'Idempotency-Key': 'same' })
        .expect(201),
    ),
  );
  const own = await ben.post('/api/plants', { name: 'Own' }).set('Idempotency-Key', 'same');
  expect(own.headers).not.toHaveProperty('idempotent-replayed');
  expect(new Set([...made, own].map((each) => bodyOf(each)['id'])).size).toBe(4);
  const again = await ben
    .post('/api/plants', { name: 'Plant 1' })
    .set({ Garden: ada.id, 'Idempotency-Key': 'same' });
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.body).toEqual(made[1]?.body);
});

test('a cursor of one garden is none of another', async () => {
  await letIn(ada, ben);
  const first = await ben.get('/api/changes').set('Garden', ada.id).expect(200);
  const since = String(bodyOf(first)['nextCursor']);
  await ben.get(`/api/changes?since=${since}`).set('Garden', ada.id).expect(200);
  expectError(await ben.get(`/api/changes?since=${since}`), 400, 'invalid_cursor');
});

test('a cursor opens nothing to a former member', async () => {
  const id = await letIn(ada, ben);
  const plant = await ada.plant();
  await several(2, () => ada.event(plant.id, { type: 'note', text: 'Fine' }));
  const inAda = (path: string) => ben.get(path).set('Garden', ada.id);
  const nextOf = async (path: string) =>
    encodeURIComponent(String(bodyOf(await inAda(path).expect(200))['nextCursor']));
  const paths = [
    `/api/changes?since=${await nextOf('/api/changes')}`,
    `/api/events?limit=1&cursor=${await nextOf('/api/events?limit=1')}`,
    `/api/plants/${plant.id}/events?limit=1&cursor=${await nextOf(`/api/plants/${plant.id}/events?limit=1`)}`,
  ];
  for (const path of paths) await inAda(path).expect(200);
  await ada.delete(`${MEMBERS}/${id}`).expect(200);
  for (const path of paths) expectError(await inAda(path), 404, 'garden_not_found');
});

test('50 members write at once, and each is named for what they did', async () => {
  const people = await several(50, () => service.user());
  const { id } = await ada.plant();
  const members = await several(50, (index) =>
    letIn(ada, people[index] ?? ben, { name: `Member ${index}`, role: 'carer' }),
  );
  const logged = await several(50, (index) =>
    (people[index] ?? ben).post(`/api/plants/${id}/events`, {}).set('Garden', ada.id).expect(201),
  );
  logged.forEach((answer, index) => {
    const by = { id: members[index], name: `Member ${index}` };
    expect(answer.body).toMatchObject({ userId: ada.id, by });
  });
  const { items } = bodyOf(await ada.get(`/api/plants/${id}/events?limit=100`).expect(200));
  expect(records(items)).toHaveLength(50);
});

test('a membership that one server ends is over for another from the next request on', async () => {
  const other = await startService({ mongodbUri: service.mongodbUri, jobs: false });
  try {
    const id = await letIn(ada, ben);
    const there = userOf(other.url, ben.id, ben.token);
    const first = await there.get('/api/plants').set('Garden', ada.id).expect(200);
    await ada.delete(`${MEMBERS}/${id}`).expect(200);
    const again = { Garden: ada.id, 'If-None-Match': String(first.headers['etag']) };
    expectError(await there.get('/api/plants').set(again), 404, 'garden_not_found');
  } finally {
    await other.close();
  }
});

test('the owner sees when a member was there, to the hour', async () => {
  await letIn(ada, ben);
  await ben.get('/api/plants').set('Garden', ada.id).expect(200);
  const seen = async () =>
    records(bodyOf(await ada.get(MEMBERS).expect(200))['items'])[0]?.['lastSeenAt'];
  await eventually(async () => (await seen()) !== null);
  expect(await seen()).toMatch(/:00:00\.000Z$/);
});

test('tools act in the garden that the header names', async () => {
  await letIn(ada, ben, { role: 'viewer' });
  await ada.plant({ name: 'Fern' });
  const me = { url: service.url, token: ben.token, user: ben };
  expect(JSON.stringify(await callTool(me, 'list_gardens', {}))).toContain(ada.id);
  const listed = await ben
    .post('/api/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'list_plants', arguments: {} },
    })
    .set({ Garden: ada.id, Accept: 'application/json, text/event-stream' })
    .expect(200);
  expect(listed.text).toContain('Fern');
});

test('the log of acts has what a member did under their account, with the garden', async () => {
  await letIn(ada, ben, { role: 'gardener' });
  const { id } = await ada.plant();
  await ben.delete(`/api/plants/${id}`).set('Garden', ada.id).expect(200);
  const entries = async (filter: object) => {
    const all = [];
    for await (const batch of service.app.audit.entries(filter)) all.push(...batch);
    return all.map(({ action, actor }) => ({ action, actor }));
  };
  const actor = expect.objectContaining({ account: ben.id, garden: ada.id }) as object;
  const deleted = { action: 'plant.deleted', actor };
  expect(await entries({ userId: ben.id })).toContainEqual(deleted);
  expect(await entries({ userId: ada.id, withGuests: true })).toContainEqual(deleted);
  expect(await entries({ userId: ada.id })).not.toContainEqual(deleted);
  const acts = await entries({ userId: ada.id });
  expect(acts.map(({ action }) => action)).toContain('member.invited');
});

test('guesses at codes count as failed authentications of the address', async () => {
  const guarded = await startService({
    // Other tests fail from the same address.
    redisUrl: null,
    env: { RATE_LIMIT_AUTH_FAILURES_MAX: '3' },
    jobs: false,
  });
  try {
    const guesser = await guarded.user();
    for (const code of ['a', 'b', 'c']) {
      expectError(await guesser.post('/api/gardens/join', { code }), 404, 'invitation_not_found');
    }
    expectError(await guesser.post('/api/gardens/join', { code: 'd' }), 429, 'rate_limited');
    await guesser.get('/api/plants').expect(200);
  } finally {
    await guarded.close();
  }
});

test('the deletion of a garden’s owner ends all memberships, also in the middle of a write', async () => {
  await letIn(ada, ben, { role: 'gardener' });
  const accounts = service.app.exportsOf(accountsPlugin);
  const plants = Array.from({ length: 20 }, (_, index) => ({ name: `Plant ${index}` }));
  const writing = Promise.all(
    plants.map((plant) => ben.post('/api/plants', plant).set('Garden', ada.id)),
  );
  await ada.delete('/api/account').send({ confirm: ada.id }).expect(200);
  for (const answer of await writing) {
    if (answer.status !== 201) expectError(answer, 404, 'garden_not_found');
  }
  expectError(await ben.get('/api/plants').set('Garden', ada.id), 404, 'garden_not_found');
  await ben.get('/api/plants').expect(200);
  await eventually(async () => (await accounts.data.counts(ada.id)) === undefined, 250);
  const { db } = service.app.database.connection;
  expect(await db?.collection('members').countDocuments({ userId: ada.id })).toBe(0);
});

test('the deletion of a member leaves a record without the account, and both find it in their export', async () => {
  const id = await letIn(ada, ben, { role: 'gardener' });
  await ben.post('/api/plants', { name: 'Ivy' }).set('Garden', ada.id).expect(201);
  const exported = async (user: TestUser) =>
    record(bodyOf(await user.get('/api/account/export').expect(200))['records']);
  expect((await exported(ben))['memberships']).toMatchObject([{ id, garden: ada.id }]);
  expect((await exported(ada))['members']).toMatchObject([{ id, name: 'Ben', role: 'gardener' }]);
  expect(JSON.stringify(await exported(ada))).not.toContain(ben.id);
  await ben.delete('/api/account').send({ confirm: ben.id }).expect(200);
  const { items } = bodyOf(await ada.get(MEMBERS).expect(200));
  expect(items).toMatchObject([{ id, leftAt: anyInstant }]);
  const { db } = service.app.database.connection;
  const [stored] = (await db?.collection('members').find({ userId: ada.id }).toArray()) ?? [];
  expect(stored).not.toHaveProperty('account');
  expect(await namesOf(await ada.get('/api/plants').expect(200))).toEqual(['Ivy']);
});
