import { records } from '../../../test/support/client';
import { backendOf, newId } from '../../../test/support/backend';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { anyId, anyInstant, bodyOf, expectError, faultsOf } from '../../../test/support/shapes';

let service: TestService;
let backend: TestUser;
let ada: TestUser;
let ben: TestUser;

beforeAll(async () => {
  service = await startService();
  backend = await backendOf(service, 'families');
});
beforeEach(async () => {
  [ada, ben] = await Promise.all([service.user(), service.user()]);
});
afterAll(() => service.close());

const MEMBER = { name: 'Ben', role: 'carer' };

function put(fields: object = {}, member = ben.id, owner = ada.id) {
  return backend.put(`/api/accounts/${owner}/members/${member}`).send({ ...MEMBER, ...fields });
}

async function members(): Promise<Record<string, unknown>[]> {
  return records(bodyOf(await backend.get(`/api/accounts/${ada.id}/members`).expect(200))['items']);
}

test('a backend makes a person a member without an invitation, and changes the member', async () => {
  const made = bodyOf(await put().expect(201));
  const view = { id: anyId, ...MEMBER, until: null, joinedAt: anyInstant, lastSeenAt: null };
  expect(made).toEqual(view);
  await ben.get('/api/plants').set('Garden', ada.id).expect(200);
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const changed = bodyOf(await put({ role: 'gardener', until }).expect(200));
  expect(changed).toMatchObject({ id: made['id'], role: 'gardener', until });
  await ben.post('/api/plants', { name: 'Fern' }).set('Garden', ada.id).expect(201);
  expect(await members()).toMatchObject([{ account: ben.id, role: 'gardener', until }]);
  const own = bodyOf(await ada.get('/api/account/members').expect(200));
  expect(records(own['items'])).toMatchObject([{ name: 'Ben', role: 'gardener' }]);
  expect(JSON.stringify(own)).not.toContain(ben.id);
});

test('a repeat, also at the same time, makes one member', async () => {
  const answers = await Promise.all([put(), put(), put()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
  expect(await members()).toHaveLength(1);
});

test('a backend ends a membership at once', async () => {
  await put().expect(201);
  const path = `/api/accounts/${ada.id}/members/${ben.id}`;
  await backend.delete(path).expect(200);
  expectError(await ben.get('/api/plants').set('Garden', ada.id), 404, 'garden_not_found');
  expectError(await backend.delete(path), 404, 'member_not_found');
  expect(await members()).toEqual([]);
});

test('both accounts must exist, and be two', async () => {
  expectError(await put({}, newId()), 404, 'account_not_found');
  expectError(await put({}, ben.id, newId()), 404, 'account_not_found');
  expect(faultsOf(await put({}, ada.id))).toEqual(['member']);
  expect(faultsOf(await put({ role: 'owner' }))).toEqual(['role']);
  expectError(await backend.get(`/api/accounts/${newId()}/members`), 404, 'account_not_found');
});
