import type { TestService } from '../support/service';
import { send } from '../support/raw';
import { startService } from '../support/program';

let listed: TestService;
let open: TestService;
let closed: TestService;

beforeAll(async () => {
  listed = await startService({ env: { CORS_ORIGINS: 'https://a.example,https://b.example' } });
  open = await startService({ env: { CORS_ORIGINS: '*' }, mongodbUri: listed.mongodbUri });
  closed = await startService({ mongodbUri: listed.mongodbUri });
});
afterAll(async () => {
  await closed.close();
  await open.close();
  await listed.close();
});

function from(service: TestService, origin: string, method = 'GET', headers = {}) {
  return send(service.url, method, '/api/plants', { headers: { Origin: origin, ...headers } });
}

/** The preflight request of a browser. */
function preflight(service: TestService, origin: string) {
  return from(service, origin, 'OPTIONS', {
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,content-type,garden,idempotency-key',
  });
}

test('pages of a listed origin may read responses, including errors', async () => {
  const answer = await from(listed, 'https://b.example');
  expect(answer.status).toBe(401);
  expect(answer.headers['access-control-allow-origin']).toBe('https://b.example');
  const exposed = answer.headers['access-control-expose-headers']?.toLowerCase().split(',');
  expect(exposed).toEqual(expect.arrayContaining(['x-request-id', 'ratelimit', 'retry-after']));
});

test('responses have Vary: Origin', async () => {
  for (const origin of ['https://a.example', 'https://evil.example']) {
    expect((await from(listed, origin)).headers.vary).toMatch(/\bOrigin\b/);
  }
});

test('pages of a listed origin may send tokens, Gardens and Idempotency-Keys', async () => {
  const answer = await preflight(listed, 'https://a.example');
  expect(answer.status).toBe(204);
  expect(answer.headers['access-control-allow-origin']).toBe('https://a.example');
  expect(answer.headers['access-control-allow-methods']?.split(',')).toEqual(
    expect.arrayContaining(['GET', 'POST', 'PATCH', 'DELETE']),
  );
  expect(answer.headers['access-control-allow-headers']).toBe(
    'authorization,content-type,garden,idempotency-key',
  );
});

test.each(['https://c.example', 'http://a.example', 'https://a.example.evil.example', 'null'])(
  'pages of %s, which is not listed, may not read responses',
  async (origin) => {
    for (const answer of [await from(listed, origin), await preflight(listed, origin)]) {
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    }
  },
);

test('* allows pages of every origin', async () => {
  const answer = await from(open, 'https://anything.example');
  expect(answer.headers['access-control-allow-origin']).toBe('*');
  expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
});

test('without the setting, pages of other origins may not read responses', async () => {
  for (const answer of [
    await from(closed, 'https://a.example'),
    await preflight(closed, 'https://a.example'),
  ]) {
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  }
});
