import packageJson from '../../package.json';
import { errorOf, send } from '../support/raw';
import type { TestService } from '../support/service';
import { assistant, type Assistant, post, rpc, type RpcReply } from './support';
import { accountsPlugin, toolRows, startService } from '../support/program';

let service: TestService;
let me: Assistant;

beforeAll(async () => {
  service = await startService({ env: { MCP_ALLOWED_ORIGINS: 'https://app.example.com' } });
  me = await assistant(service);
});
afterAll(() => service.close());

const LIST = rpc('tools/list');

describe('GET', () => {
  test('describes the endpoint, without a token', async () => {
    const { status, headers, body } = await send(service.url, 'GET', '/api/mcp');
    expect(status).toBe(200);
    expect(headers['vary']).toContain('Accept');
    expect(JSON.parse(body)).toEqual({
      name: packageJson.name,
      version: packageJson.version,
      auth: 'bearer',
      scopes: [...service.app.scopes.keys()].filter((scope) => !/^account/.test(scope)),
      tools: toolRows().map(([name]) => name),
    });
  });

  test('for an event stream gets 405', async () => {
    const headers = { Accept: 'text/event-stream' };
    const answer = await send(service.url, 'GET', '/api/mcp', { headers });
    expect(answer.status).toBe(405);
    expect(answer.headers['allow']).toBe('GET, POST');
    expect(answer.headers['vary']).toContain('Accept');
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'method_not_allowed' });
  });

  test.each(['*/*', 'application/json', 'application/json, text/event-stream', 'text/html'])(
    'with Accept: %s returns JSON',
    async (accept) => {
      const headers = { Accept: accept };
      expect((await send(service.url, 'GET', '/api/mcp', { headers })).status).toBe(200);
    },
  );

  test.each(['PUT', 'DELETE', 'PATCH'])('%s gets 405', async (method) => {
    const { status, headers } = await send(service.url, method, '/api/mcp');
    expect([status, headers['allow']]).toEqual([405, expect.stringContaining('POST')]);
  });
});

const MCP = '/api/mcp';

/** The URL of the resource metadata, from which clients learn how people sign in. */
function where(path: string): string {
  const document = `${service.url}/.well-known/oauth-protected-resource${path}`;
  const scopes = [...service.app.scopes.keys()].filter((scope) => !/^account/.test(scope));
  return `resource_metadata="${document}", scope="${scopes.join(' ')}"`;
}

describe('access', () => {
  const notAllowed = (header: string) => ({
    error: `The ${header} of this request is not allowed; operators allow it by MCP_ALLOWED_ORIGINS.`,
    code: 'origin_not_allowed',
  });

  const anonymous = (headers: Record<string, string>, body = JSON.stringify(LIST)) =>
    send(service.url, 'POST', '/api/mcp', {
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    });

  test('without a token is refused with 401', async () => {
    const { status, headers, body } = await anonymous({});
    expect([status, headers['www-authenticate']]).toEqual([401, `Bearer ${where(MCP)}`]);
    expect(JSON.parse(body)).toMatchObject({ code: 'unauthorized' });
  });

  test('with a token that is invalid, revoked or expired is refused with 403', async () => {
    const accounts = service.app.exportsOf(accountsPlugin);
    const options = { tier: 'pro' as const, scopes: ['plants:read'], name: 'test' };
    const made = (seconds: number) =>
      accounts.tokens.createToken({ userId: 'somebody', expiresInSeconds: seconds, ...options });
    const expired = await made(-1);
    const revoked = await made(3600);
    expect((await post({ ...me, token: revoked.token }, LIST)).status).toBe(200);
    await accounts.tokens.revokeToken(revoked.view.id);
    const cases = [
      ['nonsense', undefined],
      [`${me.token}x`, undefined],
      [expired.token, 'The token has expired.'],
      [revoked.token, 'The token was revoked.'],
    ] as const;
    for (const [token, why] of cases) {
      const { status, headers, text } = await post({ ...me, token }, LIST);
      expect(status).toBe(403);
      // Only the holder of a token learns why it is invalid.
      const description = why === undefined ? '' : `, error_description="${why}"`;
      const refusal = `Bearer error="invalid_token"${description}`;
      expect(headers['www-authenticate']).toBe(`${refusal}, ${where(MCP)}`);
      expect(JSON.parse(text)).toMatchObject({ code: 'invalid_token' });
      if (why !== undefined) expect(errorOf({ body: text }).error).toBe(why);
      // Everywhere else it is 401.
      const rest = await send(service.url, 'GET', '/api/plants', {
        headers: { Authorization: `Bearer ${token}` },
      });
      expect([rest.status, rest.headers['www-authenticate'], errorOf(rest)]).toEqual([
        401,
        `${refusal}, ${where('')}`,
        errorOf({ body: text }),
      ]);
    }
  });

  const SDK = 'application/json, text/event-stream';

  test.each([SDK, 'text/event-stream;q=0.5', 'Text/Event-Stream,application/json'])(
    'is refused with a JSON-RPC error if the client accepts %s',
    async (accept) => {
      for (const [authorization, status, code] of [
        [{}, 401, 'unauthorized'],
        [{ Authorization: 'Bearer nonsense' }, 403, 'invalid_token'],
      ] as const) {
        const plain = await anonymous(authorization);
        const answer = await anonymous({ ...authorization, Accept: accept });
        expect(answer.status).toBe(status);
        expect(answer.headers['content-type']).toMatch(/^application\/json/);
        expect(answer.headers['www-authenticate']).toBe(plain.headers['www-authenticate']);
        expect(JSON.parse(answer.body)).toEqual({
          jsonrpc: '2.0',
          id: null,
          error: { code: -32010, message: errorOf(plain).error, data: { code } },
        });
      }
    },
  );

  test.each(['application/json', '*/*', 'text/*', 'text/event-stream-x', ''])(
    'is refused with the Error body if the client accepts "%s"',
    async (accept) => {
      const { status, body } = await anonymous({ Accept: accept });
      expect([status, errorOf({ body }).code]).toEqual([401, 'unauthorized']);
    },
  );

  test('for other origins and hosts is refused with the Error body, whatever Accept says', async () => {
    for (const name of ['Origin', 'Host']) {
      const value = name === 'Host' ? 'evil.example.com' : 'https://evil.example.com';
      const { status, body } = await anonymous({ [name]: value, Accept: SDK });
      expect([status, errorOf({ body })]).toEqual([403, notAllowed(name)]);
    }
  });

  test.each([
    'http://localhost',
    'http://localhost:6274',
    'https://127.0.0.1:8443',
    'http://[::1]:3000',
    'https://app.example.com',
  ])('for pages of %s is allowed', async (origin) => {
    expect((await post(me, LIST, { Origin: origin })).status).toBe(200);
  });

  test.each([
    'https://evil.example.com',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com.evil.example',
    'http://localhost.evil.example',
    'http://localhost@evil.example',
    'http://evil.example/localhost',
    'null',
    'file://',
    '',
  ])('for pages of "%s" is refused', async (origin) => {
    const { status, text } = await post(me, LIST, { Origin: origin });
    expect([status, errorOf({ body: text })]).toEqual([403, notAllowed('Origin')]);
  });

  test.each([
    [{ Host: 'plants.example.net:8443' }, 'Host plants.example.net:8443'],
    [{ Origin: 'https://evil.example' }, 'Origin https://evil.example'],
    [{ Origin: 'a "page"' }, 'Origin of no plain name'],
  ])('%j is refused, and the log says why', async (headers, reason) => {
    const own = await startService({});
    try {
      await send(own.url, 'POST', '/api/mcp', { headers });
      expect(own.logged.map((line) => JSON.parse(line) as object)).toContainEqual(
        expect.objectContaining({ status: 403, code: 'origin_not_allowed', reason }),
      );
    } finally {
      await own.close();
    }
  });

  test.each(['localhost', 'localhost:1234', '127.0.0.1:80', '[::1]:3000', 'app.example.com'])(
    'with the host %s is allowed',
    async (host) => {
      expect((await post(me, LIST, { Host: host })).status).toBe(200);
    },
  );

  test.each(['evil.example.com', '192.168.1.20:3000', 'localhost.evil.example', '[::2]'])(
    'with the host %s is refused',
    async (host) => {
      const { status, text } = await post(me, LIST, { Host: host });
      expect([status, errorOf({ body: text })]).toEqual([403, notAllowed('Host')]);
    },
  );

  test('is checked in this order: origin, token, size, JSON', async () => {
    const origin = { Origin: 'https://evil.example.com' };
    const token = { Authorization: `Bearer ${me.token}` };
    const large = JSON.stringify({ ...LIST, padding: 'x'.repeat(110_000) });
    expect((await anonymous(origin, large)).status).toBe(403);
    expect((await anonymous({}, large)).status).toBe(401);
    expect((await anonymous({ Authorization: 'Bearer x' }, large)).status).toBe(403);
    expect((await anonymous(token, large)).status).toBe(413);
    expect((await anonymous({ Authorization: 'Bearer x' }, '{')).status).toBe(403);
    const { status, body } = await anonymous(token, '{');
    expect(status).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ id: null, error: { code: -32700 } });
  });
});

test('/api/mcp/ works like /api/mcp', async () => {
  const [path, other] = ['/api/mcp', '/api/mcp/'];
  const body = JSON.stringify(LIST);
  const headers = { 'Content-Type': 'application/json' };
  const good = { ...headers, Authorization: `Bearer ${me.token}` };
  const stream = { headers: { Accept: 'text/event-stream' } };
  const calls = [
    ['GET', {}],
    ['GET', stream],
    ['HEAD', {}],
    ['POST', { headers: good, body }],
    ['POST', { headers, body }],
    ['POST', { headers: { ...good, Host: 'evil.example.com' }, body }],
    ['DELETE', {}],
    ['PUT', {}],
    ['OPTIONS', {}],
  ] as const;
  for (const [method, options] of calls) {
    const [one, same] = await Promise.all([
      send(service.url, method, path, options),
      send(service.url, method, other, options),
    ]);
    const seen = (answer: typeof one) => [answer.status, answer.headers['allow'], answer.body];
    expect([method, ...seen(same)]).toEqual([method, ...seen(one)]);
  }
  expect((await send(service.url, 'GET', `${path}//`)).status).toBe(404);
});

describe('plain JSON-RPC, without a handshake', () => {
  const result = ({ status, headers, body }: RpcReply) => [status, headers['content-type'], body];

  test.each([0, 1, -7, '', 'a', '0', 2 ** 53 - 1])('echoes the id %p', async (id) => {
    expect(result(await post(me, rpc('ping', undefined, id)))).toEqual([
      200,
      'application/json; charset=utf-8',
      { jsonrpc: '2.0', id, result: {} },
    ]);
  });

  test('a notification gets 202 and no body', async () => {
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const { status, text, headers } = await post(me, notification);
    expect([status, text, headers['content-type']]).toEqual([202, '', undefined]);
  });

  test('a tool call without an id does nothing', async () => {
    const params = { name: 'create_plant', arguments: { name: 'Unasked' } };
    expect((await post(me, { jsonrpc: '2.0', method: 'tools/call', params })).status).toBe(202);
    const { text } = await me.user.get('/api/plants').expect(200);
    expect(text).not.toContain('Unasked');
  });

  test.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])(
    'initialize negotiates %s',
    async (protocolVersion) => {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'a', version: '1' } };
      const { body } = await post(me, rpc('initialize', params));
      expect(body.result).toMatchObject({ protocolVersion, capabilities: { tools: {} } });
      const { status } = await post(me, LIST, { 'MCP-Protocol-Version': protocolVersion });
      expect(status).toBe(200);
    },
  );

  test('initialize with an unknown version negotiates the newest before 2026-07-28', async () => {
    const params = {
      protocolVersion: '1999-01-01',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    };
    const { body } = await post(me, rpc('initialize', params));
    expect(body.result).toMatchObject({ protocolVersion: '2025-11-25' });
  });
});

test.each(['app.example.com', 'https://app.example.com/path', 'https://a.example, *', 'https://'])(
  'the setting MCP_ALLOWED_ORIGINS cannot be %s',
  async (origins) => {
    await expect(startService({ env: { MCP_ALLOWED_ORIGINS: origins } })).rejects.toThrow(
      'MCP_ALLOWED_ORIGINS must be origins such as https://app.example.com',
    );
  },
);
