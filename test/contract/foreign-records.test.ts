import { type Operation, operationName } from '../../src/plugins/operation';
import { everythingStored, gardenOf } from '../support/garden';
import {
  fieldsOf,
  idOfEveryKind,
  type Ids,
  kindOf,
  operationRows,
  referenceOf,
  validRequest,
} from '../support/operations';
import { startService, type TestService, type TestUser } from '../support/service';
import { NOBODYS_ID } from '../support/shapes';

let service: TestService;
let owner: TestUser;
let stranger: TestUser;
let theirs: Ids;
let mine: Ids;

beforeAll(async () => {
  // Without the jobs nothing but the requests of the tests writes.
  service = await startService({ jobs: false });
  [owner, stranger] = await Promise.all([service.user(), service.user()]);
  [theirs, mine] = await Promise.all([gardenOf(owner), gardenOf(stranger)]);
});
afterAll(() => service.close());

const METHODS = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;

async function callAs(user: TestUser, operation: Operation, ids: Ids, fields: object = {}) {
  const { method, path, body } = validRequest(operation, ids);
  const response = await (method === 'GET' || method === 'DELETE'
    ? user[METHODS[method]](path)
    : user[METHODS[method]](path, { ...body, ...fields }));
  return { status: response.status, body: response.body as unknown };
}

const missing = idOfEveryKind(NOBODYS_ID);
const rows = operationRows();
const withIds = rows.filter(([, { params }]) => params);

test.each(withIds)(
  '%s cannot tell another user’s record from a missing one',
  async (_name, operation) => {
    const before = await everythingStored(service);
    const foreign = await callAs(stranger, operation, theirs);
    expect(foreign).toEqual(await callAs(stranger, operation, missing));
    expect(foreign).toEqual({
      status: 404,
      body: {
        error: expect.any(String) as string,
        code: expect.stringMatching(/^[a-z]+_not_found$/) as string,
      },
    });
    expect(await everythingStored(service)).toEqual(before);
  },
);

test.each(withIds)('%s takes no record of another kind for its own', async (_name, operation) => {
  const own = Object.keys(operation.params ?? {}).map((name) => kindOf(operation, name));
  const others = Object.entries(mine).filter(([kind]) => !own.includes(kind));
  const before = await everythingStored(service);
  for (const [kind, id] of others) {
    const { status } = await callAs(stranger, operation, idOfEveryKind(id));
    expect({ kind, status }).toEqual({ kind, status: 404 });
  }
  expect(await everythingStored(service)).toEqual(before);
});

const references = rows.flatMap(([, operation]) =>
  fieldsOf(operation.body)
    .filter((field) => referenceOf(operation, field) !== undefined)
    .map(({ name, type }) => ({ operation, name, isList: type === 'array' })),
);

test.each(references.map((each) => [operationName(each.operation), each.name, each] as const))(
  '%s cannot tell another user’s record in %s from a missing one, and stores nothing',
  async (_operation, name, { operation, isList }) => {
    const before = await everythingStored(service);
    const answers = [];
    for (const id of [...Object.values(theirs), NOBODYS_ID]) {
      const answer = await callAs(stranger, operation, mine, { [name]: isList ? [id] : id });
      expect(answer.status).toBe(400);
      // The message may repeat the id that was sent.
      answers.push(JSON.stringify(answer.body).replaceAll(id, 'ID'));
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain(name);
    expect(await everythingStored(service)).toEqual(before);
  },
);

test('there are records in paths and references in bodies to test', () => {
  expect(withIds.length).toBeGreaterThanOrEqual(10);
  expect(references.length).toBeGreaterThanOrEqual(5);
});
