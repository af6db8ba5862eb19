import { assistant, refused, tool } from '../../../test/mcp/support';
import { insightsOf } from '../../../test/support/insights';
import { eventPage } from '../../../test/support/paging';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, faultsOf, NOBODYS_ID } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;
let plantIds: string[];

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user();
  plantIds = [];
  for (let index = 0; index < 3; index += 1) plantIds.push((await user.plant()).id);
});
afterAll(() => service.close());

/** Everything derived from events, as responses show it. */
async function everything(of = user): Promise<unknown> {
  const [plants, insights, feed] = [
    await of.get('/api/plants').expect(200),
    await insightsOf(of),
    await of.get('/api/events?limit=100').expect(200),
  ];
  return { plants: plants.body as unknown, insights, feed: feed.body as unknown };
}

async function log(fields: object = {}, by = user): Promise<string[]> {
  const answer = await by.post('/api/events', { plantIds, ...fields }).expect(201);
  return (bodyOf(answer)['items'] as { id: string }[]).map(({ id }) => id);
}

const KINDS = [
  {},
  { type: 'note', text: 'Hello' },
  { type: 'growth', growthAmount: 1.5, growthUnit: 'in' },
  { occurredAt: '2026-01-01T00:00:00Z' },
];

test.each(KINDS)(
  'a bulk log (%j) is undone in one call, and its events can be restored',
  async (fields) => {
    await user.event(plantIds[0] ?? '', { occurredAt: '2026-02-01T00:00:00Z' });
    const before = await everything();
    const ids = await log(fields);
    const after = await everything();
    const answer = await user.post('/api/events/delete', { eventIds: ids }).expect(200);
    expect(answer.body).toEqual({ success: true });
    expect(await everything()).toEqual(before);
    for (const id of ids) await user.post(`/api/events/${id}/restore`).expect(200);
    expect(await everything()).toEqual(after);
  },
);

test('a restored event is unchanged, and restoring it again changes nothing', async () => {
  const photo = await user.photo();
  const event = await user.event(plantIds[0] ?? '', { text: 'Hello', photoIds: [photo.id] });
  const before = await everything();
  await user.delete(`/api/events/${event.id}`).expect(200);
  for (let time = 0; time < 2; time += 1) {
    const answer = await user.post(`/api/events/${event.id.toUpperCase()}/restore`).expect(200);
    expect(answer.body).toEqual(event);
    expect(await everything()).toEqual(before);
  }
});

test('the tag of a restored event matches the next change', async () => {
  const { id } = await user.event(plantIds[0] ?? '');
  await user.delete(`/api/events/${id}`).expect(200);
  const { headers } = await user.post(`/api/events/${id}/restore`).expect(200);
  const change = user.patch(`/api/events/${id}`, { text: 'x' });
  await change.set('If-Match', String(headers['etag'])).expect(200);
});

test('an event of a deleted plant, or of another user, cannot be restored', async () => {
  const [plantId = ''] = plantIds;
  const [deleted, live] = [await user.event(plantId), await user.event(plantId)];
  await user.delete(`/api/events/${deleted.id}`).expect(200);
  await user.delete(`/api/plants/${plantId}`).expect(200);
  const other = await service.user();
  const theirs = await other.event((await other.plant()).id);
  for (const id of [deleted.id, live.id, theirs.id, NOBODYS_ID, 'fern']) {
    expectError(await user.post(`/api/events/${id}/restore`), 404, 'event_not_found');
  }
  expect((await insightsOf(user)).overview.totalEvents).toBe(0);
});

test('if one event does not exist, none is deleted', async () => {
  const ids = await log();
  const other = await service.user();
  const theirs = await other.event((await other.plant()).id);
  const gone = await user.event(plantIds[0] ?? '');
  await user.delete(`/api/events/${gone.id}`).expect(200);
  const before = await everything();
  for (const id of [NOBODYS_ID, theirs.id, gone.id]) {
    const answer = await user.post('/api/events/delete', { eventIds: [...ids, id] });
    expectError(answer, 400, 'event_not_found', new RegExp(id));
  }
  expect(await everything()).toEqual(before);
});

test('events of a deleted plant cannot be deleted', async () => {
  const ids = await log();
  await user.delete(`/api/plants/${plantIds[0] ?? ''}`).expect(200);
  const answer = await user.post('/api/events/delete', { eventIds: ids });
  expectError(answer, 400, 'event_not_found');
});

test.each([
  [{}],
  [{ eventIds: [] }],
  [{ eventIds: [NOBODYS_ID, NOBODYS_ID.toUpperCase()] }],
  [{ eventIds: Array.from({ length: 101 }, () => NOBODYS_ID) }],
  [{ eventIds: NOBODYS_ID }],
  [{ eventIds: ['fern'] }],
])('%j is refused', async (body) => {
  expect(faultsOf(await user.post('/api/events/delete', body).expect(400))).toEqual(['eventIds']);
});

test('an empty list is refused with a message for one item', async () => {
  const refusal = await user.post('/api/events/delete', { eventIds: [] });
  expectError(refusal, 400, 'validation_error', /^eventIds must contain at least 1 item\b/);
});

test('a retry with the same key deletes nothing more', async () => {
  const eventIds = await log();
  const send = () => user.post('/api/events/delete', { eventIds }).set('Idempotency-Key', 'undo');
  await send().expect(200);
  expect((await send().expect(200)).body).toEqual({ success: true });
  await user.post('/api/events/delete', { eventIds }).expect(400);
});

test('an event that is deleted and restored counts once', async () => {
  const free = await startService({ env: { TIER_PRO_EVENTS: '2' } });
  const owner = await free.user();
  const { id: plantId } = await owner.plant();
  const { id } = await owner.event(plantId);
  for (let time = 0; time < 3; time += 1) {
    await owner.delete(`/api/events/${id}`).expect(200);
    await owner.post(`/api/events/${id}/restore`).expect(200);
  }
  await owner.event(plantId);
  expectError(await owner.post(`/api/plants/${plantId}/events`), 403, 'feature_not_available');
  await free.close();
});

test('an assistant deletes the events that it logged, and restores one', async () => {
  const me = await assistant(service);
  const { id: plantId } = await me.user.plant({ location: 'Hall' });
  const { items } = await tool(me, 'log_care', { location: 'Hall', type: 'fertilized' });
  const [{ id }] = items as [{ id: string }];
  expect(await tool(me, 'delete_events', { eventIds: [id] })).toEqual({ success: true });
  expect((await eventPage(me.user, plantId)).items).toEqual([]);
  expect(await tool(me, 'restore_event', { id })).toMatchObject({ id, type: 'fertilized' });
  expect(await refused(me, 'log_care', { type: 'note' })).toMatch(
    /^validation_error: plantIds or location /,
  );
});

test.each(['get', 'patch', 'delete'] as const)(
  '%s at /api/events/delete is 405',
  async (method) => {
    const answer = await user[method]('/api/events/delete');
    expectError(answer, 405, 'method_not_allowed');
    expect(answer.headers['allow']).toBe('POST');
  },
);
