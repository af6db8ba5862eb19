import { records } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { until as eventually } from '../../../test/support/processes';
import { everythingStored, startService } from '../../../test/support/program';
import { begin } from '../../../test/support/raw';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, listOf } from '../../../test/support/shapes';
import { letIn } from '../../../test/support/sharing';

let service: TestService;
let ada: TestUser;
let ben: TestUser;
let plant: string;
let member: string;

beforeAll(async () => {
  service = await startService({ jobs: false });
});
beforeEach(async () => {
  [ada, ben] = await Promise.all([service.user(), service.user()]);
  ({ id: plant } = await ada.plant({ name: 'Fern' }));
  member = await letIn(ada, ben, { role: 'gardener' });
});
afterEach(resetClock);
afterAll(() => service.close());

const MEMBERS = '/api/account/members';
const TOKENS = '/api/account/tokens';
const SCOPES = ['plants:read', 'plants:write', 'events:write'];

/** A request of which only the end of its body is missing, once its sender was let in; sends the rest. */
type Finish = ReturnType<typeof begin>;

interface Wanted {
  path: string;
  body: object;
  headers?: Record<string, string>;
}

/** A request under the header Garden. */
async function named({ path, body, headers = {} }: Wanted): Promise<Finish> {
  const members = service.app.database.connection.db?.collection('members');
  const isSeen = async () => (await members?.findOne({ account: ben.id }))?.['lastSeenAt'] !== null;
  const finish = begin(service.url, 'POST', path, {
    headers: { ...headersOf(ben.token), Garden: ada.id, ...headers },
    body: JSON.stringify(body),
  });
  await eventually(isSeen);
  return finish;
}

/** A request with a token that is bound to the garden. */
async function bound({ path, body, headers = {} }: Wanted): Promise<Finish> {
  const wanted = { name: 'Script', scopes: SCOPES, garden: ada.id };
  const { id, token } = bodyOf(await ben.post(TOKENS, wanted).expect(201));
  const isUsed = async () => {
    const { items } = bodyOf(await ben.get(TOKENS).expect(200));
    return records(items).find((each) => each['id'] === id)?.['lastUsedAt'] !== null;
  };
  const finish = begin(service.url, 'POST', path, {
    headers: { ...headersOf(String(token)), ...headers },
    body: JSON.stringify(body),
  });
  await eventually(isUsed);
  return finish;
}

function headersOf(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
}

function toolCall(name: string, args: object): Wanted {
  const params = { name, arguments: args };
  return { path: '/api/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } };
}

const create = { path: '/api/plants', body: { name: 'Ivy' } };
const imported = { path: '/api/import', body: { plants: [{ name: 'Ivy' }] } };

/** What can be late. */
const DOORS: Readonly<Record<string, () => Promise<Finish>>> = {
  'a write': () => named(create),
  'an import': () => named(imported),
  'a dry run': () => named({ ...imported, path: `${imported.path}?dryRun=true` }),
  'an event': () => named({ path: `/api/plants/${plant}/events`, body: {} }),
  'a calendar address': () => named({ path: '/api/account/calendar', body: {} }),
  'a repeat under its key': () => repeated(named),
  'a tool call': async () => {
    const { path, body } = toolCall('list_plants', {});
    return begin(service.url, 'POST', path, {
      headers: { ...headersOf(ben.token), Garden: ada.id },
      body: JSON.stringify(body),
    });
  },
  'a write with a token for the garden': () => bound(create),
  'a tool call with a token for the garden': () => bound(toolCall('list_plants', {})),
  'a writing tool call with a token for the garden': () =>
    bound(toolCall('create_plant', create.body)),
  'the instructions for a token for the garden': () =>
    bound({
      path: '/api/mcp',
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-06-18',
          capabilities: {},
          clientInfo: { name: 'test', version: '1' },
        },
      },
    }),
};

/** Repeats a write that was done. */
async function repeated(through: typeof named): Promise<Finish> {
  const key = { 'Idempotency-Key': 'once' };
  await ben
    .post(create.path, create.body)
    .set({ Garden: ada.id, ...key })
    .expect(201);
  const members = service.app.database.connection.db?.collection('members');
  const seen = { account: ben.id, lastSeenAt: { $ne: null } };
  const forget = () => members?.updateOne(seen, { $set: { lastSeenAt: null } });
  await eventually(async () => (await forget())?.matchedCount === 1);
  return through({ ...create, headers: key });
}

/** How a membership ends. */
const ENDS: Readonly<Record<string, () => Promise<unknown>>> = {
  'the owner has ended it': async () => ada.delete(`${MEMBERS}/${member}`).expect(200),
  'the member has left': async () => ben.delete(`/api/gardens/${ada.id}`).expect(200),
  'the member has left and was let in again': async () => {
    await ben.delete(`/api/gardens/${ada.id}`).expect(200);
    await letIn(ada, ben, { role: 'gardener' });
  },
  'its time has passed': async () => {
    const until = Date.now() + 60_000;
    await ada.patch(`${MEMBERS}/${member}`, { until: new Date(until) }).expect(200);
    setClock(until);
  },
  'the owner has deleted their account': async () =>
    ada.delete('/api/account').send({ confirm: ada.id }).expect(200),
};

const cases = Object.keys(DOORS)
  .flatMap((what) => Object.keys(ENDS).map((how) => [what, how] as const))
  // It asks who may enter only now.
  .filter(([what, how]) => what !== 'a tool call' || !how.endsWith('let in again'));

test.each(cases)('%s that arrives when %s is refused', async (what, how) => {
  const finish = await DOORS[what]?.();
  await ENDS[how]?.();
  const before = await everythingStored(service);
  const answer = await finish?.();
  const isBound = what.endsWith('a token for the garden');
  const isTool = /tool|instructions/.test(what);
  expect(answer?.body).toMatch(isBound ? /"invalid_token"/ : /\bgarden_not_found\b/);
  // Without a binding, the call of a tool fails, not the message.
  if (isBound) expect(answer?.status).toBe(isTool ? 403 : 401);
  else expect(answer?.status).toBe(isTool ? 200 : 404);
  expect(answer?.body).not.toContain('Fern');
  expect(await everythingStored(service)).toEqual(before);
});

test.each(['a write', 'an import', 'a write with a token for the garden'])(
  '%s that arrives when the role is lowered is refused',
  async (what) => {
    const finish = await DOORS[what]?.();
    await ada.patch(`${MEMBERS}/${member}`, { role: 'carer' }).expect(200);
    const answer = await finish?.();
    expect([answer?.status, answer?.body]).toEqual([
      403,
      expect.stringContaining('needs the role gardener; yours is carer'),
    ]);
    expect(listOf(await ada.get('/api/plants').expect(200))).toHaveLength(1);
  },
);

test('a tool call with a token for the garden that arrives when the role is lowered is refused', async () => {
  const finish = await bound(toolCall('create_plant', create.body));
  await ada.patch(`${MEMBERS}/${member}`, { role: 'viewer' }).expect(200);
  const { body } = await finish();
  expect(body).toContain('needs the role gardener; yours is viewer');
  expect(listOf(await ada.get('/api/plants').expect(200))).toHaveLength(1);
});

test('what arrives under another name has that name', async () => {
  const finish = await named({ path: `/api/plants/${plant}/events`, body: {} });
  await ada.patch(`${MEMBERS}/${member}`, { name: 'Benjamin', role: 'carer' }).expect(200);
  const { status, body } = await finish();
  expect([status, JSON.parse(body)]).toMatchObject([201, { by: { id: member, name: 'Benjamin' } }]);
});

test('while a role is raised and lowered, each write is done whole or refused', async () => {
  const wanted = Array.from({ length: 30 }, (_, index) => ({ name: `Plant ${index}` }));
  const over = new AbortController();
  const changing = (async () => {
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      const role = turn % 2 === 0 ? 'viewer' : 'gardener';
      await ada.patch(`${MEMBERS}/${member}`, { role }).expect(200);
    }
  })();
  const answers = await Promise.all(
    wanted.map((fields) => ben.post('/api/plants', fields).set('Garden', ada.id)),
  ).finally(() => {
    over.abort();
  });
  await changing;
  for (const answer of answers) {
    if (answer.status !== 201) expectError(answer, 403, 'insufficient_scope', /yours is viewer/);
  }
  const made = answers.filter(({ status }) => status === 201).map((each) => bodyOf(each)['id']);
  const stored = listOf(await ada.get('/api/plants').expect(200)).map(({ id }) => id);
  expect(new Set(stored)).toEqual(new Set([plant, ...made]));
});
