import { exchange } from '../support/raw';
import type { TestService, TestUser } from '../support/service';
import { NOBODYS_ID } from '../support/shapes';
import type { Operation } from '../../src/plugins/operation';
import type { Ids } from '../support/operations';
import {
  idOfEveryKind,
  operationRows,
  validRequest,
  everythingStored,
  Garden,
  startService,
} from '../support/program';

const SOME_ID = '0192f0c1-7b7e-7c5a-8d3b-2f4e6a8c0d1e';

let service: TestService;
let user: TestUser;
let garden: Garden;

beforeAll(async () => {
  service = await startService({ jobs: false });
  user = await service.user();
  garden = new Garden(user);
  await garden.ids();
});
afterAll(() => service.close());

const withIds = operationRows().filter(([, { params }]) => params);

/** Sends a path unchanged, since clients would normalize some of these. */
async function call(operation: Operation, ids: Ids) {
  const { method, path, body } = validRequest(operation, ids);
  const payload = body && JSON.stringify(body);
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: test',
    `Authorization: Bearer ${user.token}`,
    ...(payload === undefined
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(payload)}`]),
    'Connection: close',
  ];
  const answer = await exchange(service.url, `${head.join('\r\n')}\r\n\r\n${payload ?? ''}`);
  return { status: answer.status, body: JSON.parse(answer.body) as unknown };
}

/** One segment of an existing path, so that the route matches and no record has the id. */
const NOBODYS: Readonly<Record<string, string>> = {
  'a word': 'fern',
  zero: '0',
  null: 'null',
  undefined: 'undefined',
  'an operator': '$ne',
  'an operator as JSON': '%7B%22$ne%22:null%7D',
  'a UUID in braces': `%7B${SOME_ID}%7D`,
  'a UUID in raw braces': `{${SOME_ID}}`,
  'a UUID without dashes': SOME_ID.replaceAll('-', ''),
  'a UUID as a URN': `urn:uuid:${SOME_ID}`,
  'a UUID with a space before': `%20${SOME_ID}`,
  'a UUID with a line break after': `${SOME_ID}%0A`,
  'a UUID with NUL after': `${SOME_ID}%00`,
  'a UUID with an extension': `${SOME_ID}.json`,
  'a UUID with a matrix parameter': `${SOME_ID};x=1`,
  'a UUID one short': SOME_ID.slice(1),
  'a UUID one long': `${SOME_ID}0`,
  'two UUIDs': `${SOME_ID},${SOME_ID}`,
  '36 letters that are not hexadecimal': 'z'.repeat(36),
  '36 dashes': '-'.repeat(36),
  'the dashes elsewhere': SOME_ID.replace(/^(.{8})-/, '$1').replace(/$/, '-'),
  'the UUID of zeros': '00000000-0000-0000-0000-000000000000',
  'the UUID of ones': 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'a UUID without a version': '00000000-0000-0000-0000-000000000001',
  'an ObjectId': '507f1f77bcf86cd799439011',
  NUL: '%00',
  'an escaped slash': '..%2f..%2fhealthz',
  'an escaped dot': '%2e%2e',
  'a dot': '.',
  'two dots': '..',
  'an escaped astral character': '%F0%9F%8C%B1',
  'digits of another script': `%EF%BC%90${SOME_ID.slice(1)}`,
  '8,000 letters': 'a'.repeat(8000),
};

test.each(withIds)(
  '%s responds to a malformed id as to an unknown one, to an invalid path with a client error, and changes nothing',
  async (_name, operation) => {
    const before = await everythingStored(service);
    const missing = await call(operation, idOfEveryKind(NOBODYS_ID));
    expect(missing.status).toBe(404);
    const malformed = Object.entries(NOBODYS);
    const outcomes = malformed.map(async ([label, id]) => [
      label,
      await call(operation, idOfEveryKind(id)),
    ]);
    expect(await Promise.all(outcomes)).toEqual(malformed.map(([label]) => [label, missing]));
    const paths = ['', '%E0%A4%A', '%', '%zz', '%ff', '%C0%AF', '%u0041', '🌱', '../plants', '//'];
    for (const id of [...paths, `${SOME_ID}/`, `/${SOME_ID}`, `${SOME_ID}/../${SOME_ID}`]) {
      const { status, body } = await call(operation, idOfEveryKind(id));
      expect([400, 404, 405]).toContain(status);
      expect(body).toEqual({
        error: expect.any(String) as string,
        code: expect.stringMatching(
          /^(\w+_not_found|not_found|method_not_allowed|validation_error)$/,
        ) as string,
      });
    }
    expect(await everythingStored(service)).toEqual(before);
  },
);

test.each(withIds)('%s accepts an id in upper case', async (_name, operation) => {
  const ids = Object.entries(await garden.ids()).map(([kind, id]) => [kind, id.toUpperCase()]);
  const { status } = await call(operation, Object.fromEntries(ids) as Ids); // As it was.
  garden.called(operation);
  expect(status).toBe(operation.response.status);
});
