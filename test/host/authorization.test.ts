import type { TestService, TestUser } from '../support/service';
import { errorOf, send } from '../support/raw';
import { startService } from '../support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
  user = await service.user();
});
afterAll(() => service.close());

function asking(authorization: string, path = '/api/plants') {
  return send(service.url, 'GET', path, { headers: { Authorization: authorization } });
}

/** How clients learn how people sign in. */
function where(): string {
  const scopes = [...service.app.scopes.keys()].filter((scope) => !/^account/.test(scope));
  const document = `${service.url}/.well-known/oauth-protected-resource`;
  return `resource_metadata="${document}", scope="${scopes.join(' ')}"`;
}

test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('the scheme may be %s', async (scheme) => {
  expect((await asking(`${scheme} ${user.token}`)).status).toBe(200);
});

test.each([
  ['no header', undefined],
  ['an empty header', ''],
  ['a scheme without a token', 'Bearer'],
  ['another scheme', 'Basic dXNlcjpwYXNz'],
  ['a token without a scheme', 'tnd_mcp_x'],
])('%s counts as a missing token', async (_, authorization) => {
  const headers = authorization === undefined ? {} : { Authorization: authorization };
  const answer = await send(service.url, 'GET', '/api/plants', { headers });
  expect(answer.status).toBe(401);
  expect(answer.headers['www-authenticate']).toBe(`Bearer ${where()}`);
  expect(errorOf(answer).code).toBe('unauthorized');
});

test('every operation without a token gets 401, whatever else is wrong', async () => {
  for (const { method, path } of service.app.operations) {
    const answer = await send(service.url, method, `${path.replace('{id}', 'x')}?a=1&a=1`, {
      headers: {
        'Content-Type': 'text/plain',
        ...(method === 'POST' ? { 'Content-Length': '1' } : {}),
      },
      ...(method === 'POST' ? { body: '{' } : {}),
    });
    expect([method, path, answer.status]).toEqual([method, path, 401]);
  }
});

test('checks run in this order: token, scope, tier, input', async () => {
  const path = '/api/plants/x/events/month';
  const nobody = await send(service.url, 'GET', path);
  const unscoped = await service.user({ tier: 'free', scopes: ['insights:read'] });
  const free = await service.user({ tier: 'free' });
  const codes = [
    errorOf(nobody).code,
    (await unscoped.get(path)).body as { code: string },
    (await free.get(path)).body as { code: string },
    (await user.get(path)).body as { code: string },
    (await user.get(`${path}?monthStart=1&monthEnd=2`)).body as { code: string },
  ].map((each) => (typeof each === 'string' ? each : each.code));
  expect(codes).toEqual([
    'unauthorized',
    'insufficient_scope',
    'feature_not_available',
    'validation_error',
    'plant_not_found',
  ]);
});

test("the log contains no tokens, user ids or people's texts", async () => {
  const stranger = await service.user({ scopes: ['plants:read'] });
  const secret = 'a-secret-that-only-they-know';
  const plant = await user.plant({ name: secret });
  await user.event(plant.id, { text: secret });
  await user.get(`/api/plants?token=${user.token}&note=${secret}`).expect(400);
  await stranger.post('/api/plants', { name: secret }).expect(403);
  await stranger.get(`/api/plants/${plant.id}`).expect(404);
  await user.post('/api/plants', { [secret]: 1 }).expect(400);
  await user.post('/api/plants', { name: secret }).set('Idempotency-Key', secret).expect(201);
  await user.post('/api/plants', { name: 'other' }).set('Idempotency-Key', secret).expect(422);
  await send(service.url, 'GET', `/${secret}`);
  await asking(`Bearer ${user.token}x`);
  await asking(`Basic ${user.token}`);
  await user.delete(`/api/plants/${plant.id}`).expect(200);
  const log = service.logged.join('');
  expect(log).toContain('"operation":"GET /api/plants"');
  for (const private_ of [user.token, stranger.token, user.id, stranger.id, secret]) {
    expect(log).not.toContain(private_);
  }
});
