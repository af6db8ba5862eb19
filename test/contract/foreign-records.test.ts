import { eventPage } from '../support/paging';
import type { TestService } from '../support/service';
import { NOBODYS_ID } from '../support/shapes';
import { type Answer, type Caller, callerOf, calls, references, sendAs } from './foreign-calls';
import {
  everythingStored,
  idOfEveryKind,
  kindOf,
  operationRows,
  validRequest,
  startService,
} from '../support/program';

let service: TestService;
let ada: Caller;
let bob: Caller;
let before: Record<string, string[]>;

beforeAll(async () => {
  // Without jobs, only the requests of the tests write.
  service = await startService({ jobs: false });
  [ada, bob] = await Promise.all([callerOf(service), callerOf(service)]);
  // A second event, so that a cursor can point to the first.
  await bob.user.event(bob.ids['plant'] ?? '');
  for (const { user, ids } of [ada, bob]) {
    await user.event(ids['plant'] ?? '', { type: 'growth', growthAmount: 1, growthUnit: 'cm' });
  }
  before = await everythingStored(service);
});
afterEach(async () => {
  expect(await everythingStored(service)).toEqual(before);
});
afterAll(() => service.close());

test.each(calls)(
  '%s over %s responds to another user’s record in %s as to an unknown id, and stores nothing',
  async (_operation, transport, _where, { reference, call }) => {
    const ask = async (caller: Caller, id: string): Promise<Answer> => {
      const { headers, ...answer } = await call(caller, reference, id);
      // The tag of a list depends on the query, and a message may repeat the id.
      const others = reference.place === 'query' ? { ...headers, etag: undefined } : headers;
      return { ...answer, headers: others, body: answer.body.replaceAll(id, 'ID') };
    };
    for (const [caller, { ids }] of [
      [ada, bob],
      [bob, ada],
    ] as const) {
      const missing = await ask(caller, NOBODYS_ID);
      expect(await ask(caller, ids[reference.kind] ?? '')).toEqual(missing);
      if (reference.place === 'query') {
        expect(missing.status).toBe(200);
        expect(await ask(caller, caller.ids[reference.kind] ?? '')).not.toEqual(missing);
      } else {
        const refused = reference.place === 'path' ? 404 : 400;
        const code = `${reference.kind}_not_found`;
        expect(missing.status).toBe(transport === 'REST' ? refused : 200);
        expect(missing.body).toMatch(new RegExp(String.raw`\b${code}\b`));
      }
    }
  },
);

test('a cursor of another user’s list gives no access to it', async () => {
  const plantId = bob.ids['plant'] ?? '';
  const page = await eventPage(bob.user, plantId, { limit: 1 });
  const answers: Answer[] = [];
  for (const id of [plantId, ada.ids['plant'] ?? '', NOBODYS_ID]) {
    const path = `/api/plants/${id}/events?cursor=${page.nextCursor ?? ''}`;
    answers.push(await sendAs(ada, 'GET', path));
  }
  expect(answers[0]).toMatchObject({ status: 400 });
  expect(answers).toEqual(answers.map(() => answers[0]));
});

const withIds = operationRows().filter(([, { params }]) => params);

test.each(withIds)(
  '%s does not accept the id of another kind of record',
  async (_name, operation) => {
    const own = Object.keys(operation.params ?? {}).map((name) => kindOf(operation, name));
    const others = Object.entries(ada.ids).filter(([kind]) => !own.includes(kind));
    for (const [kind, id] of others) {
      const { method, path, body } = validRequest(operation, idOfEveryKind(id));
      const { status } = await sendAs(ada, method, path, body);
      expect({ kind, status }).toEqual({ kind, status: 404 });
    }
  },
);

test('the tests cover ids in paths, queries and bodies', () => {
  const places = references.map(({ place }) => place);
  const count = (place: string) => places.filter((each) => each === place).length;
  expect(count('path')).toBeGreaterThanOrEqual(10);
  expect(count('query')).toBeGreaterThanOrEqual(2);
  expect(count('body')).toBeGreaterThanOrEqual(5);
});
