import { randomUUID } from 'node:crypto';

import { errorOf, keptConnections, send } from '../support/raw';
import { several } from '../support/several';
import type { TestService, TestUser } from '../support/service';
import { gardenOf, pathOf, startService } from '../support/program';

let service: TestService;
let user: TestUser;
let authorized: { Authorization: string };
/** Real ids for the parameters of paths, so that GET finds something. */
let paths: { path: string; methods: string[] }[];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

beforeAll(async () => {
  service = await startService();
  user = await service.user();
  authorized = { Authorization: `Bearer ${user.token}` };
  const ids = { ...(await gardenOf(user)), account: user.id, garden: user.id };
  const methods = new Map<string, string[]>();
  const note = (path: string, method: string): void => {
    methods.set(path, [...(methods.get(path) ?? []), method]);
  };
  for (const operation of service.app.operations) note(pathOf(operation, ids), operation.method);
  for (const transport of service.app.description.protocols) {
    for (const method of Object.keys(transport.methods)) note(transport.path, method);
  }
  paths = [...methods].map(([path, known]) => ({ path, methods: known }));
});
afterAll(() => service.close());

test.each([
  '/nothing',
  '/api',
  '/api/',
  '/api/nothing',
  '/API/plants',
  '/api/plants/',
  '//api/plants',
  '/api/plants/a/b/c',
  '/api/%',
  '/%00',
  '/healthz/',
  '/toString',
  '/__proto__',
])('the unknown path %s gets 404', async (path) => {
  for (const method of ['GET', 'POST', 'DELETE', 'TRACE']) {
    const answer = await send(service.url, method, path, { headers: authorized });
    expect(answer.status).toBe(404);
    expect(errorOf(answer).code).toBe('not_found');
  }
});

test('a known path responds to other methods with 405 and the list of its own', async () => {
  const usual = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  const others = [...usual, 'TRACE', 'PROPFIND', 'LOCK', 'SEARCH', 'PURGE'];
  const options = { headers: authorized, agent: keptConnections };
  for (const { path, methods } of paths) {
    const known = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
    const refused = others.filter((each) => !methods.includes(each));
    await several(refused.length, async (index) => {
      const method = refused[index] ?? '';
      const answer = await send(service.url, method, path, options);
      expect([method, path, answer.status]).toEqual([method, path, 405]);
      expect(answer.headers.allow?.split(', ').sort()).toEqual([...known].sort());
      expect(errorOf(answer).code).toBe('method_not_allowed');
    });
    if (!methods.includes('GET')) {
      const head = await send(service.url, 'HEAD', path, { headers: authorized });
      expect([path, head.status, head.body]).toEqual([path, 405, '']);
    }
  }
});

test('405 needs no token, even with a malformed id', async () => {
  const answer = await send(service.url, 'PUT', '/api/plants/not-an-id');
  expect(answer.status).toBe(405);
  expect(answer.headers.allow?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'PATCH']);
});

/** Headers that belong to a single request, not to the resource. */
const OF_THE_MOMENT = [
  // The form of a page has a new secret for each browser.
  'set-cookie',
  'date',
  'x-request-id',
  'ratelimit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  // Of bodies that are created while they are sent, which HEAD does not do.
  'transfer-encoding',
];

test('HEAD returns the headers of GET without a body, wherever there is GET', async () => {
  for (const { path, methods } of paths) {
    // The figures of /metrics include the requests for it.
    if (!methods.includes('GET') || path === '/metrics') continue;
    const get = await send(service.url, 'GET', path, { headers: authorized });
    const head = await send(service.url, 'HEAD', path, { headers: authorized });
    for (const name of OF_THE_MOMENT.slice(0, -1)) {
      expect([path, name, name in head.headers]).toEqual([path, name, name in get.headers]);
    }
    const lasting = (headers: object) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_MOMENT.includes(name)));
    expect([path, head.status]).toEqual([path, get.status]);
    expect(lasting(head.headers)).toEqual(lasting(get.headers));
    if (!('transfer-encoding' in get.headers)) {
      expect(get.headers['content-length']).toBe(String(Buffer.byteLength(get.body)));
    }
    expect(head.body).toBe('');
  }
});

test('HEAD of an unknown path is 404 without a body', async () => {
  const path = `/api/plants/${randomUUID()}`;
  const get = await send(service.url, 'GET', path, { headers: authorized });
  const head = await send(service.url, 'HEAD', path, { headers: authorized });
  expect([head.status, head.body]).toEqual([404, '']);
  expect(head.headers['content-length']).toBe(get.headers['content-length']);
});

describe('the request id', () => {
  test.each([
    ['200', 'GET', '/healthz'],
    ['401', 'GET', '/api/plants'],
    ['404', 'GET', '/nothing'],
    ['405', 'PUT', '/api/plants'],
    ['204', 'OPTIONS', '/api/plants'],
  ])('is in a response with status %s', async (status, method, path) => {
    const answer = await send(service.url, method, path);
    expect(answer.status).toBe(Number(status));
    expect(answer.headers['x-request-id']).toMatch(UUID);
  });

  test.each(['abc', '7', 'trace:4bf9-2f_35.77b3', 'x'.repeat(128)])(
    "is the caller's own: %s",
    async (id) => {
      const answer = await send(service.url, 'GET', '/healthz', {
        headers: { 'X-Request-Id': id },
      });
      expect(answer.headers['x-request-id']).toBe(id);
      expect(service.logged.some((line) => line.includes(`"requestId":"${id}"`))).toBe(true);
    },
  );

  test.each([
    ['with spaces', 'a b'],
    ['with quotes', '"a"'],
    ['with angle brackets', '<script>'],
    ['with other letters', 'é'],
    ['that is too long', 'x'.repeat(129)],
    ['that is empty', ''],
  ])('is generated instead of one %s', async (_, id) => {
    const answer = await send(service.url, 'GET', '/healthz', { headers: { 'X-Request-Id': id } });
    expect(answer.headers['x-request-id']).toMatch(UUID);
  });

  test('is different for each request', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send(service.url, 'GET', '/healthz')),
    );
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(20);
  });
});

describe('query strings', () => {
  test.each([
    ['a repeated parameter', 'limit=3&limit=3'],
    ['a repeated cursor', 'cursor=a&cursor=b'],
    ['an unknown parameter', 'colour=red'],
    ['a parameter in the form of an array', 'limit[]=3'],
    ['__proto__', '__proto__=1'],
    ['constructor', 'constructor=1'],
    ['text for a number', 'limit=many'],
    ['an empty number', 'limit='],
    ['a number in another notation', 'limit=1e1'],
  ])('with %s get 400', async (_, query) => {
    const plant = await user.plant();
    const answer = await user.get(`/api/plants/${plant.id}/events?${query}`).expect(400);
    expect((answer.body as { error: string }).error).toMatch(
      new RegExp(`^"?${query.split(/[=[]/)[0] ?? ''}`),
    );
    expect((answer.body as { code: string }).code).toBe('validation_error');
  });

  test('are refused if an operation takes no parameters, even if one is repeated', async () => {
    await user.get('/api/plants?limit=1').expect(400);
    await user.get('/api/insights?a=1&a=2').expect(400);
  });

  test('with too many parameters get 400 before any of them is validated', async () => {
    const plant = await user.plant();
    const events = (count: number) =>
      user.get(
        `/api/plants/${plant.id}/events?${Array.from({ length: count }, (_, at) => `p${at}=1`).join('&')}`,
      );
    const message = 'The query must have at most 50 parameters.';
    for (const count of [51, 1000]) {
      const answer = await events(count).expect(400);
      expect(answer.body).toEqual({ code: 'validation_error', error: message });
    }
    expect((await events(50).expect(400)).body).toMatchObject({
      error: 'p0 is not allowed (and 49 more faults).',
    });
  });
});
