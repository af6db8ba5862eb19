import { record, records } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { several } from '../../../test/support/several';
import { anyId, anyInstant, bodyOf, expectError, faultsOf } from '../../../test/support/shapes';
import { invite, letIn } from '../../../test/support/sharing';

let service: TestService;
let ada: TestUser;
let ben: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  [ada, ben] = await Promise.all([service.user(), service.user()]);
});
afterEach(resetClock);
afterAll(() => service.close());

const MEMBERS = '/api/account/members';
const JOIN = '/api/gardens/join';
const DAY = 86_400_000;

function inDays(days: number): string {
  return new Date(Date.now() + days * DAY).toISOString();
}

async function membersOf(owner: TestUser): Promise<Record<string, unknown>[]> {
  return records(bodyOf(await owner.get(MEMBERS).expect(200))['items']);
}

async function gardensOf(person: TestUser): Promise<Record<string, unknown>[]> {
  return records(bodyOf(await person.get('/api/gardens').expect(200))['items']);
}

function inGarden(person: TestUser, owner = ada) {
  return person.get('/api/plants').set('Garden', owner.id);
}

test('an invitation shows its code once, and lets one person in', async () => {
  const until = inDays(30);
  const made = await ada.post(MEMBERS, { name: 'Ben', role: 'carer', until }).expect(201);
  const { invitation, ...member } = bodyOf(made);
  const rest = { name: 'Ben', role: 'carer', until, joinedAt: null, lastSeenAt: null };
  expect(member).toEqual({ id: anyId, ...rest });
  const { code, url, expiresAt } = record(invitation);
  expect(String(url)).toMatch(new RegExp(`^http.*/join\\?code=${String(code)}$`));
  expect(Date.parse(String(expiresAt)) - Date.now()).toBeGreaterThan(6.9 * DAY);
  expect(await membersOf(ada)).toEqual([member]);
  const joined = await ben.post(JOIN, { code }).expect(200);
  expect(joined.body).toEqual({ id: ada.id, name: ada.id, role: 'carer', until });
  expect(await membersOf(ada)).toEqual([{ ...member, joinedAt: anyInstant }]);
  expect(await gardensOf(ben)).toEqual([
    { id: ben.id, name: ben.id, role: 'owner', until: null },
    joined.body,
  ]);
  const cleo = await service.user();
  expectError(await cleo.post(JOIN, { code }), 404, 'invitation_not_found');
  expect((await ben.post(JOIN, { code }).expect(200)).body).toEqual(joined.body);
});

test('only a hash of the code is stored', async () => {
  const { code } = await invite(ada);
  const { db } = service.app.database.connection;
  const stored = await db?.collection('members').find({ userId: ada.id }).toArray();
  expect(stored).toHaveLength(1);
  expect(JSON.stringify(stored)).not.toContain(code);
  expect(service.logged.join('')).not.toContain(code);
});

test('a repeat under an Idempotency-Key invites nobody else, and names the first', async () => {
  const send = () =>
    ada.post(MEMBERS, { name: 'Ben', role: 'viewer' }).set('Idempotency-Key', 'ben');
  const { id } = bodyOf(await send().expect(201));
  expectError(await send(), 409, 'idempotency_conflict', new RegExp(String(id)));
  expect(await membersOf(ada)).toHaveLength(1);
});

test('of two people who use a code at once, one gets in', async () => {
  const { code } = await invite(ada);
  const cleo = await service.user();
  const answers = await Promise.all([ben, cleo].map((each) => each.post(JOIN, { code })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  const seen = await Promise.all([ben, cleo].map((each) => inGarden(each)));
  expect(seen.map(({ status }) => status)).toEqual(answers.map(({ status }) => status));
});

test('an invitation ends after 7 days, when it is withdrawn, and at its end', async () => {
  const [late, withdrawn, ended] = await several(3, () => invite(ada));
  const codes = [late, withdrawn, ended].map((each) => each?.code);
  await ada.delete(`${MEMBERS}/${withdrawn?.id}`).expect(200);
  expectError(await ben.post(JOIN, { code: codes[1] }), 404, 'invitation_not_found');
  const soon = Date.now() + 60_000;
  await ada.patch(`${MEMBERS}/${ended?.id}`, { until: new Date(soon) }).expect(200);
  setClock(soon + 1000);
  expectError(await ben.post(JOIN, { code: codes[2] }), 404, 'invitation_not_found');
  const { db } = service.app.database.connection;
  const expired = { $set: { codeExpiresAt: new Date(0) } };
  await db?.collection('members').updateMany({ userId: ada.id }, expired);
  expectError(await ben.post(JOIN, { code: codes[0] }), 404, 'invitation_not_found');
});

test('nobody joins their own garden', async () => {
  const { code } = await invite(ada);
  const answer = await ada.post(JOIN, { code });
  expect(faultsOf(answer)).toEqual(['code']);
  await ben.post(JOIN, { code }).expect(200);
});

test('a second invitation gives a member its role and end', async () => {
  const id = await letIn(ada, ben, { role: 'gardener' });
  const until = inDays(3);
  const { code } = await invite(ada, { name: 'Benjamin', role: 'carer', until });
  const joined = await ben.post(JOIN, { code }).expect(200);
  expect(joined.body).toMatchObject({ role: 'carer', until });
  expect(await membersOf(ada)).toMatchObject([{ id, name: 'Ben', role: 'carer', until }]);
  expectError(
    await ben.post('/api/plants', { name: 'Fern' }).set('Garden', ada.id),
    403,
    'insufficient_scope',
  );
});

test('the owner changes the name, the role and the end of a member', async () => {
  const id = await letIn(ada, ben);
  const until = inDays(1);
  const changed = await ada.patch(`${MEMBERS}/${id}`, { name: 'B', role: 'gardener', until });
  expect(changed.body).toMatchObject({ id, name: 'B', role: 'gardener', until });
  await ben.post('/api/plants', { name: 'Fern' }).set('Garden', ada.id).expect(201);
  const endless = await ada.patch(`${MEMBERS}/${id}`, { until: null }).expect(200);
  expect(endless.body).toMatchObject({ role: 'gardener', until: null });
  const cleo = await service.user();
  for (const call of [
    cleo.patch(`${MEMBERS}/${id}`, { name: 'C' }),
    cleo.delete(`${MEMBERS}/${id}`),
  ])
    expectError(await call, 404, 'member_not_found');
});

test.each([
  ['no name', { name: '' }, ['name']],
  ['a name of 61 characters', { name: 'x'.repeat(61) }, ['name']],
  ['a role that there is not', { role: 'owner' }, ['role']],
  ['an end that has passed', { until: inDays(-1) }, ['until']],
  ['an end after more than 2 years', { until: inDays(731) }, ['until']],
])('an invitation with %s is refused', async (_what, fields, faults) => {
  const answer = await ada.post(MEMBERS, { name: 'Ben', role: 'viewer', ...fields });
  expect(faultsOf(answer)).toEqual(faults);
});

test('membership ends at its time, for the next request', async () => {
  const until = new Date(Date.now() + 60_000);
  await letIn(ada, ben, { until });
  await inGarden(ben).expect(200);
  setClock(until.getTime());
  expectError(await inGarden(ben), 404, 'garden_not_found');
  expect(await gardensOf(ben)).toHaveLength(1);
});

test('a member leaves, which the owner sees', async () => {
  const id = await letIn(ada, ben);
  await inGarden(ben).expect(200);
  const leave = `/api/gardens/${encodeURIComponent(ada.id)}`;
  await ben.delete(leave).expect(200);
  expectError(await inGarden(ben), 404, 'garden_not_found');
  expectError(await ben.delete(leave), 404, 'garden_not_found');
  expectError(await ada.delete(leave), 404, 'garden_not_found');
  expect(await membersOf(ada)).toMatchObject([{ id, leftAt: anyInstant }]);
  await letIn(ada, ben);
  await inGarden(ben).expect(200);
});

test('a garden has the name that its owner gives it', async () => {
  await letIn(ada, ben);
  const changed = await ada.patch('/api/account', { gardenName: 'Balcony' }).expect(200);
  expect(changed.body).toMatchObject({ gardenName: 'Balcony' });
  expect(await gardensOf(ben)).toMatchObject([{ id: ben.id }, { id: ada.id, name: 'Balcony' }]);
  const unnamed = await ada.patch('/api/account', { gardenName: null }).expect(200);
  expect(unnamed.body).not.toHaveProperty('gardenName');
});

test('a garden has at most 50 members and invitations, among whom those who left do not count', async () => {
  const ids = (await several(50, () => invite(ada))).map(({ id }) => id);
  const more = () => ada.post(MEMBERS, { name: 'Ben', role: 'viewer' });
  expectError(await more(), 403, 'member_limit_reached');
  await ada.delete(`${MEMBERS}/${ids[0]}`).expect(200);
  await more().expect(201);
});

test('of those who left or whose time has passed, the last 50 are kept', async () => {
  const invited = await several(50, () => invite(ada));
  const { db } = service.app.database.connection;
  const left = { $set: { leftAt: new Date() } };
  await db?.collection('members').updateMany({ userId: ada.id }, left);
  await several(2, () => invite(ada));
  expect((await membersOf(ada)).length).toBe(invited.length + 2);
  await db?.collection('members').updateMany({ userId: ada.id }, left);
  await invite(ada);
  expect((await membersOf(ada)).length).toBe(51);
});

test('a person is a member of at most 20 gardens', async () => {
  const owners = await several(21, () => service.user());
  const codes = await Promise.all(owners.map((owner) => invite(owner)));
  const last = codes.pop();
  for (const { code } of codes) await ben.post(JOIN, { code }).expect(200);
  expectError(await ben.post(JOIN, { code: last?.code }), 403, 'member_limit_reached');
  await ben.delete(`/api/gardens/${owners[0]?.id}`).expect(200);
  await ben.post(JOIN, { code: last?.code }).expect(200);
  expect(await gardensOf(ben)).toHaveLength(21);
});
