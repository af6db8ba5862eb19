import { callTool } from '../../../test/mcp/support';
import { record, records } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { accountsPlugin, startService, userOf } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, listOf } from '../../../test/support/shapes';
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

const TOKENS = '/api/account/tokens';
const SCOPES = ['plants:read', 'events:write'];

/** Makes a token of Ben that is bound to a garden. */
async function bound(fields: object = {}, by = ben): Promise<TestUser & { tokenId: string }> {
  const wanted = { name: 'Script', scopes: SCOPES, garden: ada.id, ...fields };
  const { id, token } = bodyOf(await by.post(TOKENS, wanted).expect(201));
  return Object.assign(userOf(service.url, ben.id, String(token)), { tokenId: String(id) });
}

async function gardenOf(user: TestUser): Promise<unknown> {
  return bodyOf(await user.get('/api/account').expect(200))['userId'];
}

test('a token for a garden is of that garden alone', async () => {
  const member = await letIn(ada, ben, { name: 'Ben', role: 'carer' });
  const { id } = await ada.plant({ name: 'Fern' });
  const script = await bound();
  const listed = listOf(await script.get('/api/plants').expect(200));
  expect(listed).toMatchObject([{ id, name: 'Fern' }]);
  const event = await script.post(`/api/plants/${id}/events`, {}).expect(201);
  expect(event.body).toMatchObject({ userId: ada.id, by: { id: member, name: 'Ben' } });
  await script.get('/api/plants').set('Garden', ada.id).expect(200);
  const other = await service.user();
  await letIn(other, ben);
  for (const garden of [ben.id, other.id, 'nobody', '']) {
    expectError(await script.get('/api/plants').set('Garden', garden), 404, 'garden_not_found');
  }
  const gardens = bodyOf(await script.get('/api/gardens').expect(200))['items'];
  expect(gardens).toMatchObject([{ id: ada.id, role: 'carer' }]);
});

test("a token for one's own garden opens no other", async () => {
  await letIn(ada, ben, { role: 'carer' });
  const script = await bound({ garden: ben.id, scopes: [...SCOPES, 'account'] });
  expect(await gardenOf(script)).toBe(ben.id);
  expectError(await script.get('/api/plants').set('Garden', ada.id), 404, 'garden_not_found');
  expect(bodyOf(await script.get('/api/gardens').expect(200))['items']).toMatchObject([
    { id: ben.id },
  ]);
  // Nor does what it creates.
  const wanted = { name: 'Further', scopes: SCOPES };
  const further = bodyOf(await script.post(TOKENS, wanted).expect(201));
  expect(further).toMatchObject({ garden: ben.id });
  expectError(await script.post(TOKENS, { ...wanted, garden: ada.id }), 404, 'garden_not_found');
  expectError(await script.delete(`/api/gardens/${ada.id}`), 404, 'garden_not_found');
  const cleo = await service.user();
  const { code } = await invite(cleo);
  const join = { code };
  expectError(await script.post('/api/gardens/join', join), 404, 'garden_not_found');
  await ben.post('/api/gardens/join', join).expect(200);
});

test("a token for one's own garden has nothing to do with reminders about others", async () => {
  await letIn(ada, ben, { role: 'carer' });
  const script = await bound({ garden: ben.id, scopes: ['plants:read', 'plants:write'] });
  const path = '/api/account/reminders';
  const about = { channel: 'url', url: 'https://example.com/hook', garden: ada.id };
  expectError(await script.post(path, about), 404, 'garden_not_found');
  const { id } = bodyOf(await ben.post(path, about).expect(201));
  const one = `${path}/${String(id)}`;
  expect(bodyOf(await script.get(path).expect(200))['items']).toEqual([]);
  expectError(await script.post(`${one}/test`, {}), 404, 'reminder_not_found');
  expectError(await script.patch(one, { active: false }), 404, 'reminder_not_found');
  expectError(await script.delete(one), 404, 'reminder_not_found');
  await ben.delete(one).expect(200);
});

test('lists and exports say for which garden a token is', async () => {
  await letIn(ada, ben, { role: 'carer' });
  const { tokenId: id } = await bound();
  const { items } = bodyOf(await ben.get(TOKENS).expect(200));
  expect(records(items).filter((each) => 'garden' in each)).toMatchObject([{ id, garden: ada.id }]);
  const exported = bodyOf(await ben.get('/api/account/export').expect(200));
  expect(exported['tokens']).toContainEqual(expect.objectContaining({ id, garden: ada.id }));
});

test('only a garden that is open takes a token, with scopes of the role', async () => {
  const wanted = { name: 'Script', scopes: SCOPES, garden: ada.id };
  expectError(await ben.post(TOKENS, wanted), 404, 'garden_not_found');
  await letIn(ada, ben, { role: 'viewer' });
  const beyond = await ben.post(TOKENS, wanted);
  expectError(beyond, 403, 'insufficient_scope', /needs the role carer; yours is viewer/);
  const own = await ben.post(TOKENS, { ...wanted, scopes: ['plants:read', 'account'] });
  expectError(own, 403, 'insufficient_scope', /only its owner/);
});

test('a role that is lowered or raised holds for tokens from the next request on', async () => {
  const member = await letIn(ada, ben, { role: 'carer' });
  const { id } = await ada.plant();
  const script = await bound();
  const log = () => script.post(`/api/plants/${id}/events`, {});
  await log().expect(201);
  await ada.patch(`/api/account/members/${member}`, { role: 'viewer' }).expect(200);
  expectError(await log(), 403, 'insufficient_scope', /needs the role carer/);
  await ada.patch(`/api/account/members/${member}`, { role: 'gardener' }).expect(200);
  await log().expect(201);
  const plant = await script.post('/api/plants', { name: 'Ivy' });
  expectError(plant, 403, 'insufficient_scope', /token lacks the scope plants:write/);
});

test('what is of the person is refused to a token for the garden of another', async () => {
  await letIn(ada, ben, { role: 'gardener' });
  const script = await bound();
  for (const answer of [
    await script.get(TOKENS),
    await script.get('/api/account/export'),
    await script.get('/api/account/members'),
    await script.patch('/api/account', { timezone: 'UTC' }),
  ])
    expectError(answer, 403, 'insufficient_scope', /only its owner/);
});

/** Every way in which a membership ends. */
const ENDS: Readonly<Record<string, (member: string) => Promise<unknown>>> = {
  'the owner ends it': async (member) => ada.delete(`/api/account/members/${member}`).expect(200),
  'the member leaves': async () => ben.delete(`/api/gardens/${ada.id}`).expect(200),
  'its time has passed': async (member) => {
    const until = Date.now() + 60_000;
    await ada.patch(`/api/account/members/${member}`, { until: new Date(until) }).expect(200);
    setClock(until);
  },
  'the owner deletes their account': async () =>
    ada.delete('/api/account').send({ confirm: ada.id }).expect(200),
};

test.each(Object.entries(ENDS))('a token ends in every process when %s', async (_how, end) => {
  const member = await letIn(ada, ben, { role: 'carer' });
  const script = await bound();
  const other = await startService({ mongodbUri: service.mongodbUri, jobs: false });
  try {
    const there = userOf(other.url, ben.id, script.token);
    await script.get('/api/plants').expect(200);
    const { etag } = (await there.get('/api/plants').expect(200)).headers;
    await end(member);
    for (const answer of [
      await script.get('/api/plants'),
      await there.get('/api/plants').set('If-None-Match', String(etag)),
      await there.get('/api/gardens'),
      await there.post('/api/plants', { name: 'Ivy' }).set('Garden', ada.id),
    ]) {
      expectError(answer, 401, 'invalid_token', /no longer open/);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token"/);
    }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    expectError(await there.post('/api/mcp', call), 403, 'invalid_token');
    const { items } = bodyOf(await ben.get(TOKENS).expect(200));
    expect(records(items).map(({ id }) => id)).not.toContain(script.tokenId);
  } finally {
    await other.close();
  }
});

test('a token stays ended when its holder is let in again', async () => {
  const member = await letIn(ada, ben, { role: 'carer' });
  const script = await bound();
  await ada.delete(`/api/account/members/${member}`).expect(200);
  await letIn(ada, ben, { role: 'carer' });
  expectError(await script.get('/api/plants'), 401, 'invalid_token');
  await ben.get('/api/plants').set('Garden', ada.id).expect(200);
  await (await bound()).get('/api/plants').expect(200);
});

test('a token stays ended when its holder is let in again after the time has passed', async () => {
  const until = Date.now() + 60_000;
  await letIn(ada, ben, { role: 'carer', until: new Date(until).toISOString() });
  const script = await bound();
  setClock(until);
  expectError(await script.get('/api/plants'), 401, 'invalid_token');
  await letIn(ada, ben, { role: 'viewer' });
  expectError(await script.get('/api/plants'), 401, 'invalid_token');
  await ben.get('/api/plants').set('Garden', ada.id).expect(200);
});

test('a rotated token is for the same garden', async () => {
  await letIn(ada, ben, { role: 'carer' });
  const { tokenId } = await bound();
  const { tokens } = service.app.exportsOf(accountsPlugin);
  const rotated = await tokens.rotateToken(tokenId, 3600);
  expect(await gardenOf(userOf(service.url, ben.id, rotated?.token ?? ''))).toBe(ada.id);
});

test('tokens that have ended with a membership take no room', async () => {
  const member = await letIn(ada, ben, { role: 'carer' });
  const { db } = service.app.database.connection;
  const { tokenId } = await bound();
  const tokens = db?.collection('tokens');
  const stored = await tokens?.findOne({ userId: ben.id, 'garden.owner': ada.id });
  expect(stored).not.toBeNull();
  const copies = Array.from({ length: 99 }, (_, index) => ({
    ...stored,
    _id: `${index}`,
    hash: `${tokenId} ${index}`,
  }));
  await tokens?.insertMany(copies as never);
  expectError(await ben.post(TOKENS, { name: 'x', scopes: SCOPES }), 403, 'token_limit_reached');
  await ada.delete(`/api/account/members/${member}`).expect(200);
  await ben.post(TOKENS, { name: 'x', scopes: SCOPES }).expect(201);
  await tokens?.deleteMany({ userId: ben.id, 'garden.owner': ada.id });
});

test('tools need no argument for the garden, and the instructions name it', async () => {
  await letIn(ada, ben, { role: 'viewer' });
  await ada.patch('/api/account', { gardenName: 'Balcony "A"', timezone: 'Pacific/Kiritimati' });
  await ada.plant({ name: 'Fern' });
  const script = await bound({ scopes: ['plants:read'] });
  const me = { url: service.url, token: script.token, user: script };
  expect(JSON.stringify(await callTool(me, 'list_plants', {}))).toContain('Fern');
  const initialize = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize };
  const begun = bodyOf(await script.post('/api/mcp', message).expect(200));
  const instructions = String(record(begun['result'])['instructions']);
  const whose = `the garden "Balcony \\"A\\"" of "${ada.id}", where the person is a viewer.`;
  expect(instructions).toContain(whose);
  expect(instructions).toContain('in Pacific/Kiritimati;');
  const own = bodyOf(await ben.post('/api/mcp', message).expect(200));
  expect(String(record(own['result'])['instructions'])).toMatch(
    /^All data belongs to the token's owner\. /,
  );
});

test('a tool that the role does not permit is not listed, and says which role is needed', async () => {
  await letIn(ada, ben, { role: 'carer' });
  const member = await bound();
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const { result } = bodyOf(await member.post('/api/mcp', list).expect(200));
  const names = records(record(result)['tools']).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['list_plants', 'create_event', 'list_gardens']));
  expect(names).not.toContain('create_plant');
  expect(names).not.toContain('update_account');
  const me = { url: service.url, token: member.token, user: member };
  const refused = await callTool(me, 'create_plant', { name: 'Ivy' });
  expect(JSON.stringify(refused)).toContain('needs the role gardener; yours is carer');
});
