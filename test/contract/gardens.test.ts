import type { Operation } from '../../src/plugins/operation';
import type { Ids } from '../support/operations';
import { until as eventually } from '../support/processes';
import { begin, send } from '../support/raw';
import type { TestService, TestUser } from '../support/service';
import { bodyOf } from '../support/shapes';
import { letIn } from '../support/sharing';
import {
  everythingStored,
  Garden,
  operationRows,
  readsBody,
  requiredScopes,
  startService,
  validRequest,
} from '../support/program';

/** Those that show or change what a garden is (docs/api.md, "Shared gardens"). */
const OF_GARDENS =
  /^\/api\/(plants|plant-summaries|events|photos|care|schedules|insights|locations|changes|import|export)(\/|$)/;
const FIXTURES = /^\/api\/chores/;
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  viewer: ['plants:read', 'insights:read'],
  carer: ['plants:read', 'insights:read', 'events:write'],
  gardener: ['plants:read', 'insights:read', 'events:write', 'plants:write'],
};

let service: TestService;
let ada: TestUser;
let stranger: TestUser;
const members = new Map<string, TestUser>();
/** Tokens of the gardener, for their own garden and for that of Ada. */
let own: string;
let bound: string;
let garden: Garden;
let ids: Ids;

beforeAll(async () => {
  service = await startService({ jobs: false });
  [ada, stranger] = await Promise.all([service.user(), service.user()]);
  garden = new Garden(ada);
  ids = await garden.ids();
  for (const role of Object.keys(SCOPES)) {
    const person = await service.user();
    await letIn(ada, person, { role });
    members.set(role, person);
  }
  const gardener = members.get('gardener') ?? stranger;
  const tokenFor = async (owner: TestUser, scopes: readonly string[]) => {
    const wanted = { name: 'Script', scopes, garden: owner.id };
    const made = bodyOf(await gardener.post('/api/account/tokens', wanted).expect(201));
    return String(made['token']);
  };
  own = await tokenFor(gardener, [...(SCOPES['gardener'] ?? []), 'account']);
  bound = await tokenFor(ada, SCOPES['gardener'] ?? []);
});
afterAll(() => service.close());

function call(
  operation: Operation,
  person: Pick<TestUser, 'token'>,
  owner: string | undefined,
  extra: object = {},
) {
  const { method, path, body } = validRequest(operation, ids);
  return send(service.url, method, path, {
    headers: {
      Authorization: `Bearer ${person.token}`,
      ...(owner !== undefined && { Garden: encodeURIComponent(owner) }),
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...extra,
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

function codeOf({ body }: { body: string }): unknown {
  return (JSON.parse(body) as { code?: unknown }).code;
}

const rows = operationRows();
const ofGardens = rows.filter(([, { of }]) => of === 'garden');
const ofMembers = rows.filter(([, { of }]) => of === 'member');
const ofPeople = rows.filter(([, { of, access }]) => of === 'person' && 'scope' in access);

test('operations of gardens are those on plants and what hangs on them, and on reading the account', () => {
  const named = ofGardens.filter(([, { path }]) => !OF_GARDENS.test(path) && !FIXTURES.test(path));
  expect(named.map(([name]) => name)).toEqual(['GET /api/account']);
  expect(ofPeople.filter(([, { path }]) => OF_GARDENS.test(path))).toEqual([]);
});

test.each([...ofGardens, ...ofPeople, ...ofMembers])(
  '%s is 404 to a person who is not let in, as for an account that there is not',
  async (_name, operation) => {
    const before = await everythingStored(service);
    const answers = [];
    for (const owner of [ada.id, 'nobody']) {
      const { status, body } = await call(operation, stranger, owner, { 'If-None-Match': '*' });
      answers.push({ status, body });
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject({ status: 404 });
    expect(answers.map(codeOf)).toEqual(['garden_not_found', 'garden_not_found']);
    expect(await everythingStored(service)).toEqual(before);
  },
);

test.each(ofPeople)('%s is never done in the garden of another', async (_name, operation) => {
  const before = await everythingStored(service);
  for (const person of members.values()) {
    const answer = await call(operation, person, ada.id);
    expect([answer.status, codeOf(answer)]).toEqual([403, 'insufficient_scope']);
    expect(answer.body).toContain('only its owner');
  }
  expect(await everythingStored(service)).toEqual(before);
});

test.each([...ofGardens, ...ofPeople, ...ofMembers])(
  "%s is never done with a token for one's own garden in that of another",
  async (_name, operation) => {
    const person = members.get('gardener') ?? stranger;
    const before = await everythingStored(service);
    const answer = await call(operation, { ...person, token: own }, ada.id);
    expect([answer.status, codeOf(answer)]).toEqual([404, 'garden_not_found']);
    expect(await everythingStored(service)).toEqual(before);
  },
);

test.each(ofPeople)(
  '%s is never done with a token for the garden of another',
  async (_name, operation) => {
    const person = members.get('gardener') ?? stranger;
    const before = await everythingStored(service);
    for (const owner of [undefined, ada.id]) {
      const answer = await call(operation, { ...person, token: bound }, owner);
      expect([answer.status, codeOf(answer)]).toEqual([403, 'insufficient_scope']);
      expect(answer.body).toContain('only its owner');
    }
    expect((await call(operation, { ...person, token: bound }, person.id)).status).toBe(404);
    expect(await everythingStored(service)).toEqual(before);
  },
);

const refused = ofGardens.flatMap(([name, operation]) =>
  Object.entries(SCOPES).flatMap(([role, held]) => {
    const lacking = requiredScopes(operation).find((scope) => !held.includes(scope));
    return lacking === undefined ? [] : [[name, role, { operation, lacking }] as const];
  }),
);

test.each(refused)(
  '%s is refused to a %s, and the response names the role that is needed',
  async (_name, role, { operation, lacking }) => {
    const before = await everythingStored(service);
    const person = members.get(role) ?? stranger;
    const answer = await call(operation, person, ada.id);
    expect([answer.status, codeOf(answer)]).toEqual([403, 'insufficient_scope']);
    const needed = Object.keys(SCOPES).find((each) => SCOPES[each]?.includes(lacking));
    expect(answer.body).toContain(
      needed === undefined ? 'only its owner' : `needs the role ${needed}; yours is ${role}`,
    );
    expect(answer.headers).not.toHaveProperty('www-authenticate');
    expect(await everythingStored(service)).toEqual(before);
  },
);

test.each(ofGardens.filter(([, { path }]) => !FIXTURES.test(path)))(
  '%s is done by a gardener in the garden of another, and is refused once the membership has ended',
  async (_name, operation) => {
    const person = await service.user();
    ids = await garden.ids();
    const id = await letIn(ada, person, { role: 'gardener' });
    const key = { 'Idempotency-Key': operation.path };
    const first = await call(operation, person, ada.id, key);
    expect(first.status).toBe(operation.response.status);
    garden.called(operation);
    if (operation.method === 'GET') expect(first.headers.vary).toMatch(/\bGarden\b/);
    await ada.delete(`/api/account/members/${id}`).expect(200);
    const { etag = '*' } = first.headers;
    const again = await call(operation, person, ada.id, { ...key, 'If-None-Match': etag });
    expect([again.status, codeOf(again)]).toEqual([404, 'garden_not_found']);
    expect(again.headers).not.toHaveProperty('etag');
  },
);

const withBody = [...ofGardens, ...ofMembers].filter(
  ([, operation]) => readsBody(operation) && !FIXTURES.test(operation.path),
);

test.each(withBody)(
  '%s is refused if its body arrives when the membership has ended',
  async (_name, operation) => {
    const person = await service.user();
    ids = await garden.ids();
    const id = await letIn(ada, person, { role: 'gardener' });
    const { method, path, body = {} } = validRequest(operation, ids);
    const finish = begin(service.url, method, path, {
      headers: {
        Authorization: `Bearer ${person.token}`,
        Garden: encodeURIComponent(ada.id),
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    const members = service.app.database.connection.db?.collection('members');
    const seen = { account: person.id, lastSeenAt: { $ne: null } };
    await eventually(async () => (await members?.countDocuments(seen)) === 1);
    await ada.delete(`/api/account/members/${id}`).expect(200);
    const before = await everythingStored(service);
    const answer = await finish();
    expect([answer.status, codeOf(answer)]).toEqual([404, 'garden_not_found']);
    expect(await everythingStored(service)).toEqual(before);
  },
);
