import { record, records } from '../../../test/support/client';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, faultsOf } from '../../../test/support/shapes';
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

const DAY = 86_400_000;

const anyDay = expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/) as string;

/** Sends what Ben does in Ada's garden. */
function asBen(path: string, body: object) {
  return ben.post(path, body).set('Garden', ada.id);
}

function dayIn(days: number): string {
  return new Date(Date.now() + days * DAY).toISOString().slice(0, 10);
}

/** The events and snoozes of Ada's garden as her copy gets them. */
async function copyOf(user = ada): Promise<Record<'events' | 'snoozes', object[]>> {
  const { events, snoozes } = bodyOf(await user.get('/api/changes').expect(200));
  return { events: records(events), snoozes: records(snoozes) };
}

test('an event says which member logged it, in every response that has it', async () => {
  const id = await letIn(ada, ben, { name: 'Ben next door', role: 'carer' });
  const { id: plantId } = await ada.plant({ wateringFrequencyDays: 7 });
  const by = { id, name: 'Ben next door' };
  const logged = [
    bodyOf(await asBen(`/api/plants/${plantId}/events`, {}).expect(201)),
    ...records(
      bodyOf(await asBen('/api/events', { type: 'note', plantIds: [plantId] }).expect(201))[
        'items'
      ],
    ),
    ...records(
      bodyOf(await asBen('/api/care/done', { plantId, type: 'watered' }).expect(201))['items'],
    ),
  ];
  expect(logged.map((each) => each['by'])).toEqual([by, by, by]);
  const own = bodyOf(await ada.post(`/api/plants/${plantId}/events`, {}).expect(201));
  expect(own).not.toHaveProperty('by');
  const all = [...logged, own].map((each) => expect.objectContaining(each) as object);
  const lists = [
    records(bodyOf(await ada.get('/api/events').expect(200))['items']),
    records(bodyOf(await ada.get(`/api/plants/${plantId}/events`).expect(200))['items']),
    (await copyOf()).events,
  ];
  for (const events of lists) {
    expect(events).toHaveLength(4);
    expect(events).toEqual(expect.arrayContaining(all));
  }
});

test('an event stays by whom it was logged, whoever changes it and whatever becomes of the member', async () => {
  const id = await letIn(ada, ben, { name: 'Ben', role: 'carer' });
  const { id: plantId } = await ada.plant();
  const theirs = bodyOf(await asBen(`/api/plants/${plantId}/events`, {}).expect(201));
  const hers = bodyOf(await ada.post(`/api/plants/${plantId}/events`, {}).expect(201));
  const changed = await ben
    .patch(`/api/events/${String(hers['id'])}`, { text: 'Rainwater' })
    .set('Garden', ada.id)
    .expect(200);
  expect(changed.body).not.toHaveProperty('by');
  const path = `/api/events/${String(theirs['id'])}`;
  await ada.delete(path).expect(200);
  await ada.post(`${path}/restore`).expect(200);
  await ada.patch(`/api/account/members/${id}`, { name: 'Benjamin' }).expect(200);
  const later = bodyOf(await asBen(`/api/plants/${plantId}/events`, {}).expect(201));
  expect(later['by']).toEqual({ id, name: 'Benjamin' });
  await ada.delete(`/api/account/members/${id}`).expect(200);
  await ben.delete('/api/account').send({ confirm: ben.id }).expect(200);
  const kept = await ada.patch(path, { text: 'Much' }).expect(200);
  expect(kept.body).toMatchObject({ by: { id, name: 'Ben' }, text: 'Much' });
});

test('no client sets by whom an event is', async () => {
  const { id: plantId } = await ada.plant();
  const by = { name: 'Eve' };
  const { id } = bodyOf(await ada.post(`/api/plants/${plantId}/events`, {}).expect(201));
  for (const answer of [
    await ada.post(`/api/plants/${plantId}/events`, { by }),
    await ada.post('/api/events', { type: 'note', plantIds: [plantId], by }),
    await ada.patch(`/api/events/${String(id)}`, { by }),
    await ada.post('/api/care/skip', { plantId, type: 'watered', by }),
  ])
    expect(faultsOf(answer)).toEqual(['by']);
});

test('snoozes and skips say which member set what stands', async () => {
  const id = await letIn(ada, ben, { name: 'Ben', role: 'carer' });
  const by = { id, name: 'Ben' };
  const snoozed = await ada.plant({ wateringFrequencyDays: 7 });
  const skipped = await ada.plant({ wateringFrequencyDays: 7 });
  const until = dayIn(3);
  const snooze = { plantId: snoozed.id, type: 'watered', until };
  const item = await asBen('/api/care/snooze', snooze).expect(200);
  expect(item.body).toMatchObject({ snoozedUntil: until, by });
  await asBen('/api/care/skip', { plantId: skipped.id, type: 'watered' }).expect(200);
  const due = async () =>
    records(bodyOf(await ada.get(`/api/care?to=${dayIn(20)}`).expect(200))['items']);
  const put = (each: Record<string, unknown>) => each['snoozedUntil'] !== null;
  expect((await due()).filter(put)).toEqual([expect.objectContaining({ dueOn: until, by })]);
  expect((await due()).filter((each) => !put(each) && 'by' in each)).toEqual([]);
  expect((await copyOf()).snoozes).toEqual([
    { plantId: snoozed.id, type: 'watered', until, by },
    { plantId: skipped.id, type: 'watered', until: null, skippedOn: anyDay, by },
  ]);
  // The owner says the same again: it is no longer Ben's.
  const { nextCursor } = bodyOf(await ada.get('/api/changes').expect(200));
  const own = await ada.post('/api/care/snooze', snooze).expect(200);
  expect(own.body).not.toHaveProperty('by');
  const since = await ada.get(`/api/changes?since=${String(nextCursor)}`).expect(200);
  expect(records(bodyOf(since)['snoozes'])).toEqual([
    { plantId: snoozed.id, type: 'watered', until },
  ]);
});

test('a snooze of a schedule says who set it', async () => {
  const id = await letIn(ada, ben, { name: 'Ben', role: 'carer' });
  const { id: plantId } = await ada.plant();
  const schedule = { care: 'repotted', everyDays: 30 };
  const made = await ada.post(`/api/plants/${plantId}/schedules`, schedule).expect(201);
  const { id: scheduleId } = bodyOf(made);
  const until = dayIn(40);
  await asBen('/api/care/snooze', { plantId, scheduleId, until }).expect(200);
  expect((await copyOf()).snoozes).toEqual([
    { plantId, type: 'repotted', scheduleId, until, by: { id, name: 'Ben' } },
  ]);
});

test('an export says who did it, and its import keeps the names', async () => {
  const id = await letIn(ada, ben, { name: 'Ben', role: 'carer' });
  const by = { id, name: 'Ben' };
  const { id: plantId } = await ada.plant({ wateringFrequencyDays: 7 });
  await asBen(`/api/plants/${plantId}/events`, {}).expect(201);
  await ada.post(`/api/plants/${plantId}/events`, { type: 'note' }).expect(201);
  await asBen('/api/care/snooze', { plantId, type: 'watered', until: dayIn(9) }).expect(200);
  const exported = async (user: TestUser) => {
    const [plant] = records(bodyOf(await user.get('/api/export').expect(200))['plants']);
    const [snooze] = records(plant?.['snoozes']);
    return {
      events: records(plant?.['events']).map((each) => each['by']),
      acts: records(snooze?.['acts']).map((each) => each['by']),
    };
  };
  expect(await exported(ada)).toEqual({ events: [undefined, by], acts: [by] });
  const cleo = await service.user();
  const garden = bodyOf(await ada.get('/api/export').expect(200));
  await cleo.post('/api/import', garden).expect(201);
  const { id: _, ...name } = by;
  expect(await exported(cleo)).toEqual({ events: [undefined, name], acts: [name] });
  const { events, snoozes } = await copyOf(cleo);
  expect(events).toContainEqual(expect.objectContaining({ type: 'watered', by: name }));
  expect(snoozes).toMatchObject([{ until: dayIn(9), by: name }]);
  const whole = bodyOf(await ada.get('/api/account/export').expect(200));
  const stored = records(record(whole['records'])['events']);
  expect(stored.map((each) => each['by'])).toContainEqual(by);
});

test('what a member imports is by the member, whatever the import says', async () => {
  const id = await letIn(ada, ben, { name: 'Ben', role: 'gardener' });
  const by = { id, name: 'Ben' };
  const event = { type: 'watered', occurredAt: new Date(Date.now() - DAY).toISOString() };
  const act = { at: event.occurredAt, until: dayIn(5), zone: 'UTC', by: { name: 'Cleo' } };
  const plant = {
    name: 'Fern',
    wateringFrequencyDays: 7,
    snoozes: [{ type: 'watered', acts: [act] }],
    events: [event, { ...event, by: { name: 'Cleo' } }],
  };
  await asBen('/api/import', { plants: [plant] }).expect(201);
  const { events, snoozes } = await copyOf();
  expect(events).toMatchObject([{ by }, { by }]);
  expect(snoozes).toMatchObject([{ by }]);
});

test.each([
  ['is empty', { name: '' }, 'by.name'],
  ['is too long', { name: 'x'.repeat(61) }, 'by.name'],
  ['is missing', {}, 'by.name'],
  ['is not in an object', 'Ben', 'by'],
  ['has an id that is none', { id: 'x', name: 'Ben' }, 'by.id'],
])('an import is refused whose name %s', async (_what, by, fault) => {
  const plants = [{ name: 'Fern', events: [{ by }] }];
  const { details } = bodyOf(await ada.post('/api/import', { plants }).expect(400));
  expect(records(details).map(({ field }) => field)).toEqual([`plants[0].events[0].${fault}`]);
});
