import type { Operation } from '../../src/plugins/operation';
import { operationName } from '../../src/plugins/operation-facts';
import { rpc } from '../mcp/support';
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
import { eventPage } from '../support/paging';
import { send } from '../support/raw';
import { startService, type TestService, type TestUser } from '../support/service';
import { NOBODYS_ID } from '../support/shapes';
import { median } from '../support/statistics';

let service: TestService;
let ada: Caller;
let bob: Caller;

/** An account, with records of each kind. */
interface Caller {
  user: TestUser;
  ids: Ids;
}

async function caller(): Promise<Caller> {
  const user = await service.user();
  return { user, ids: await gardenOf(user) };
}

beforeAll(async () => {
  // Without the jobs nothing but the requests of the tests writes.
  service = await startService({ jobs: false });
  [ada, bob] = await Promise.all([caller(), caller()]);
});
afterAll(() => service.close());

/** Headers that differ between any two answers: the moment, and what is left of a budget. */
const OF_THE_MOMENT = /^(date|x-request-id|(x-)?ratelimit.*)$/;

interface Answer {
  status: number;
  headers: object;
  body: string;
}

/** What a call over REST gets, byte for byte. */
async function rest(
  user: TestUser,
  operation: Operation,
  ids: Ids,
  fields: object = {},
): Promise<Answer> {
  const { method, path, body } = validRequest(operation, ids);
  return sendAs(user, method, path, body && { ...body, ...fields });
}

/** What a call of the operation's tool gets, byte for byte. */
async function tool(
  user: TestUser,
  operation: Operation,
  ids: Ids,
  fields: object = {},
): Promise<Answer> {
  const { path, body } = validRequest(operation, ids);
  const query = [...new URL(path, service.url).searchParams];
  const params = Object.keys(operation.params ?? {});
  const given = {
    ...Object.fromEntries(params.map((name) => [name, ids[kindOf(operation, name)]])),
    ...Object.fromEntries(query.map(([name, value]) => [name, Number(value)])),
    ...body,
    ...fields,
  };
  const name = 'name' in operation.tool ? operation.tool.name : '';
  return sendAs(user, 'POST', '/api/mcp', rpc('tools/call', { name, arguments: given }));
}

async function sendAs(
  user: TestUser,
  method: string,
  path: string,
  body: object | undefined,
): Promise<Answer> {
  const {
    status,
    headers,
    body: text,
  } = await send(service.url, method, path, {
    headers: {
      Authorization: `Bearer ${user.token}`,
      ...(body ? { 'Content-Type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const lasting = Object.entries(headers).filter(([name]) => !OF_THE_MOMENT.test(name));
  return { status, headers: Object.fromEntries(lasting), body: text };
}

const TRANSPORTS = [
  { label: 'REST', call: rest },
  { label: 'its tool', call: tool },
];

const missing = idOfEveryKind(NOBODYS_ID);
const rows = operationRows();
const withIds = rows.filter(([, { params }]) => params);
const calls = withIds.flatMap(([name, operation]) =>
  TRANSPORTS.map(({ label, call }) => [name, label, { operation, call }] as const),
);

test.each(calls)(
  '%s over %s answers another user’s record as a missing one',
  async (_name, transport, { operation, call }) => {
    const before = await everythingStored(service);
    for (const [{ user }, { ids }] of [
      [ada, bob],
      [bob, ada],
    ] as const) {
      const foreign = await call(user, operation, ids);
      expect(foreign).toEqual(await call(user, operation, missing));
      expect(foreign.status).toBe(transport === 'REST' ? 404 : 200);
      expect(foreign.body).toMatch(/\b[a-z]+_not_found\b/);
    }
    expect(await everythingStored(service)).toEqual(before);
  },
);

test('a cursor of another user’s list gives access to none of it', async () => {
  const plantId = bob.ids['plant'] ?? '';
  await bob.user.event(plantId);
  const page = await eventPage(bob.user, plantId, { limit: 1 });
  const answers: Answer[] = [];
  for (const id of [plantId, ada.ids['plant'] ?? '', NOBODYS_ID]) {
    const path = `/api/plants/${id}/events?cursor=${page.nextCursor ?? ''}`;
    answers.push(await sendAs(ada.user, 'GET', path, undefined));
  }
  expect(answers[0]).toMatchObject({ status: 400 });
  expect(answers).toEqual(answers.map(() => answers[0]));
});

/** How far apart the medians of both may be at most. */
const FARTHEST = 2;
/** After how many pairs of calls this is looked at, and how often where other work disturbs it. */
const SAMPLES = 8;
const ROUNDS = 8;

test.each(calls)(
  '%s over %s takes as long for another user’s record as for a missing one',
  async (_name, _transport, { operation, call }) => {
    const times = { foreign: [] as number[], missing: [] as number[] };
    const timed = async (kind: keyof typeof times) => {
      const start = performance.now();
      await call(ada.user, operation, kind === 'foreign' ? bob.ids : missing);
      times[kind].push(performance.now() - start);
    };
    let factor = Infinity;
    for (let round = 0; round < ROUNDS && factor >= FARTHEST; round += 1) {
      for (let sample = 0; sample < SAMPLES; sample += 1) {
        // In turns, and each as often first, so that whatever else the machine does meets both.
        const [first, second] =
          sample % 2 === 0 ? (['foreign', 'missing'] as const) : (['missing', 'foreign'] as const);
        await timed(first);
        await timed(second);
      }
      const ratio = median(times.foreign) / median(times.missing);
      factor = Math.max(ratio, 1 / ratio);
    }
    expect(factor).toBeLessThan(FARTHEST);
  },
);

test.each(withIds)('%s takes no record of another kind for its own', async (_name, operation) => {
  const own = Object.keys(operation.params ?? {}).map((name) => kindOf(operation, name));
  const others = Object.entries(ada.ids).filter(([kind]) => !own.includes(kind));
  const before = await everythingStored(service);
  for (const [kind, id] of others) {
    const { status } = await rest(ada.user, operation, idOfEveryKind(id));
    expect({ kind, status }).toEqual({ kind, status: 404 });
  }
  expect(await everythingStored(service)).toEqual(before);
});

const references = rows.flatMap(([, operation]) =>
  fieldsOf(operation.body)
    .filter((field) => referenceOf(operation, field) !== undefined)
    .map(({ name, type }) => ({ operation, name, isList: type === 'array' })),
);

const callsWithReferences = references.flatMap((each) =>
  TRANSPORTS.map(
    ({ label, call }) =>
      [operationName(each.operation), label, each.name, { ...each, call }] as const,
  ),
);

test.each(callsWithReferences)(
  '%s over %s answers another user’s record in %s as a missing one, and stores nothing',
  async (_operation, _transport, name, { operation, isList, call }) => {
    const before = await everythingStored(service);
    const answers: string[] = [];
    for (const id of [...Object.values(bob.ids), NOBODYS_ID]) {
      const answer = await call(ada.user, operation, ada.ids, { [name]: isList ? [id] : id });
      // The message may repeat the id that was sent.
      answers.push(JSON.stringify(answer).replaceAll(id, 'ID'));
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain(name);
    expect(answers[0]).toMatch(/\b[a-z]+_not_found\b/);
    expect(await everythingStored(service)).toEqual(before);
  },
);

test('there are records in paths and references in bodies to test', () => {
  expect(withIds.length).toBeGreaterThanOrEqual(10);
  expect(references.length).toBeGreaterThanOrEqual(5);
});
