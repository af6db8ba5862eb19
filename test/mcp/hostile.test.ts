import type { TestService } from '../support/service';
import {
  assistant,
  type Assistant,
  callTool,
  post,
  refused,
  rpc,
  type RpcReply,
  statelessHeaders,
  statelessParams,
  type ToolResult,
} from './support';
import { startService } from '../support/program';

let service: TestService;
let me: Assistant;
let plantId: string;

beforeAll(async () => {
  service = await startService();
  me = await assistant(service);
  ({ id: plantId } = await me.user.plant());
});
afterAll(() => service.close());

/** Expects that the response is not 5xx and reveals no internals. */
function expectHarmless({ status, text }: RpcReply): void {
  expect(status).toBeLessThan(500);
  expect(text).not.toMatch(/\bat [^ ]+ \(|node_modules|\.[tj]s:\d/);
}

async function errorOf(body: unknown, headers?: Record<string, string>) {
  const reply = await post(me, body, headers);
  expectHarmless(reply);
  return [reply.status, reply.body.error?.code, reply.body.id];
}

test.each(['constructor', '__proto__', 'toString', 'water_everything', '', 'x'.repeat(50_000)])(
  'the unknown tool %.20s',
  async (name) => {
    expect(await errorOf(rpc('tools/call', { name, arguments: {} }, 'a'))).toEqual([
      200,
      -32602,
      'a',
    ]);
  },
);

test.each([undefined, null, 7, {}, ['list_plants']])('a tool name that is %j', async (name) => {
  expect(await errorOf(rpc('tools/call', { name }))).toEqual([200, -32602, 1]);
});

test.each([
  'tools/nothing',
  'resources/list',
  'prompts/list',
  'constructor',
  '',
  'subscriptions/listen',
  'server/discover',
])('the unknown method "%s"', async (method) => {
  expect(await errorOf(rpc(method, {}, 0))).toEqual([200, -32601, 0]);
});

test.each([
  ['a batch', [rpc('ping')], null],
  ['an empty batch', [], null],
  ['a text', 'ping', null],
  ['a number', 7, null],
  ['null', null, null],
  ['no method', { jsonrpc: '2.0', id: 7 }, 7],
  ['a method that is a number', { jsonrpc: '2.0', id: 7, method: 1 }, 7],
  ['no version', { id: 7, method: 'ping' }, 7],
  ['an older version', { jsonrpc: '1.0', id: 7, method: 'ping' }, 7],
  ['a version that is a number', { jsonrpc: 2, id: 7, method: 'ping' }, 7],
  ['params that are a list', { jsonrpc: '2.0', id: 7, method: 'ping', params: [] }, 7],
  ['params that are a text', { jsonrpc: '2.0', id: 7, method: 'ping', params: 'x' }, 7],
  ['the id null', { jsonrpc: '2.0', id: null, method: 'ping' }, null],
  ['an id that is a boolean', { jsonrpc: '2.0', id: true, method: 'ping' }, null],
  ['an id that is a fraction', { jsonrpc: '2.0', id: 1.5, method: 'ping' }, null],
  [
    'an id beyond what a number holds exactly',
    { jsonrpc: '2.0', id: 2 ** 53, method: 'ping' },
    null,
  ],
  ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'ping' }, null],
  ['what has a member of another name', { ...rpc('ping'), id: 7, foo: 1 }, 7],
  ['an answer', { jsonrpc: '2.0', id: 7, result: {} }, 7],
])('%s is not a request', async (_, body, id) => {
  expect(await errorOf(JSON.stringify(body))).toEqual([400, -32600, id]);
});

test.each([
  ['nothing', ''],
  ['half an object', '{"jsonrpc":"2.0"'],
  ['a bare word', 'ping'],
  ['a key that would touch prototypes', '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}'],
  [
    'such a key beside the arguments',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_plants","arguments":{},"_meta":{"__proto__":{}}}}',
  ],
])('%s is a parse error', async (_, text) => {
  expect(await errorOf(text)).toEqual([400, -32700, null]);
});

describe('a message that is nested too deeply is refused before it is read', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const message = (method: string, params: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
  const call = (given: string) =>
    message('tools/call', `{"name":"create_event","arguments":${given}}`);
  const TOO_DEEP = [400, -32600, null];

  test.each([33, 5000, 45_000])('with %i levels as the body', async (levels) => {
    expect(await errorOf(nested(levels))).toEqual(TOO_DEEP);
  });

  test('instead of arguments', async () => {
    expect(await errorOf(call(nested(5000)))).toEqual(TOO_DEEP);
  });

  test.each(['photoIds', 'text', 'id', 'occurredAt', 'colour'])('as %s', async (name) => {
    const given = (levels: number) => call(`{"id":"${plantId}","${name}":${nested(levels)}}`);
    expect(await errorOf(given(5000))).toEqual(TOO_DEEP);
    // The message, its parameters and the arguments are three levels of the 32.
    const reply = await post(me, given(29));
    expectHarmless(reply);
    expect(reply.body.result).toMatchObject({ isError: true });
  });

  test.each(['tools/list', 'tools/call', 'initialize', 'ping'])(
    'as parameters of %s',
    async (method) => {
      for (const name of ['_meta', 'cursor', 'name', 'task', 'colour']) {
        const params = `{"name":"list_plants","${name}":${nested(45_000)}}`;
        expect(await errorOf(message(method, params))).toEqual(TOO_DEEP);
      }
    },
  );

  test('as capabilities of initialize', async () => {
    const params = (levels: number) =>
      `{"protocolVersion":"2025-11-25","clientInfo":{"name":"a","version":"1"},"capabilities":{"experimental":{"x":${'{"y":'.repeat(levels)}1${'}'.repeat(levels)}}}}`;
    expect(await errorOf(message('initialize', params(4000)))).toEqual(TOO_DEEP);
    const reply = await post(me, message('initialize', params(20)));
    expect(reply.body.result).toMatchObject({ protocolVersion: '2025-11-25' });
  });
});

test.each([null, 7, 'text', [], true])('arguments that are %j', async (given) => {
  const { isError } = await callTool(me, 'create_plant', given);
  expect(isError).toBe(true);
});

test.each([
  ['create_plant', { name: 7 }, 'name must be a string'],
  ['create_plant', { name: 'Fern', toxic: 1 }, 'toxic must be a boolean'],
  ['create_plant', { name: 'Fern', constructor: 1 }, 'constructor is not allowed'],
  [
    'create_plant',
    { name: 'Fern', wateringFrequencyDays: 'seven' },
    'wateringFrequencyDays must be an integer',
  ],
  ['list_events', { limit: '1e1' }, 'limit must be an integer'],
  ['list_events', { limit: 1000 }, 'limit must be less than or equal to 100'],
  ['create_event', { growthAmount: '2 cm' }, 'growthAmount must be a number'],
])('%s with %j', async (name, given, reason) => {
  const id = name === 'create_plant' ? {} : { id: plantId };
  expect(await refused(me, name, { ...id, ...given })).toContain(reason);
});

describe('an argument that would change prototypes is refused by name', () => {
  const call = (name: string, given: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${given}}}`;
  const reasonOf = async (text: string): Promise<string> => {
    const { body } = await post(me, text);
    const { isError, content } = body.result as ToolResult; // The result of a call in MCP.
    expect(isError).toBe(true);
    expect({}).not.toHaveProperty('isAdmin');
    return content[0]?.text ?? '';
  };

  test.each([
    ['__proto__', '{"isAdmin":true}'],
    ['__proto__', 'null'],
    ['__proto__', '{"notes":"Inherited"}'],
    ['constructor', '{"prototype":{"isAdmin":true}}'],
    ['prototype', '{"isAdmin":true}'],
  ])('%s of %s', async (key, value) => {
    expect(await reasonOf(call('create_plant', `{"name":"Fern","${key}":${value}}`))).toBe(
      `validation_error: ${key} is not allowed. Correct this and call create_plant again.`,
    );
    expect(await reasonOf(call('list_plants', `{"${key}":${value}}`))).toContain(
      `${key} is not allowed.`,
    );
    const given = `{"id":"${plantId}","${key}":${value}}`;
    expect(await reasonOf(call('update_plant', given))).toContain(`${key} is not allowed.`);
  });

  test.each([
    ['notes.__proto__', '{"__proto__":{"isAdmin":true}}'],
    ['notes.a.0.__proto__', '{"a":[{"__proto__":{}}]}'],
    ['notes.constructor', '{"constructor":{"prototype":{"isAdmin":true}}}'],
  ])('%s', async (path, notes) => {
    const reason = await reasonOf(call('create_plant', `{"name":"Fern","notes":${notes}}`));
    expect(reason).toContain(`validation_error: ${path} is not allowed`);
  });

  test('none of them replaces a missing argument', async () => {
    const reason = await reasonOf(call('create_plant', '{"__proto__":{"name":"Inherited"}}'));
    expect(reason).toContain('name is required');
    expect(await reasonOf(call('get_plant', `{"__proto__":{"id":"${plantId}"}}`))).toContain(
      'id is required',
    );
  });
});

describe('versions', () => {
  const INITIALIZE = {
    protocolVersion: '2026-07-28',
    capabilities: {},
    clientInfo: { name: 'a', version: '1' },
  };
  test('the error for a header of an unknown version lists those supported', async () => {
    const { status, body } = await post(me, rpc('ping'), { 'MCP-Protocol-Version': '1999-01-01' });
    expect([status, body]).toMatchObject([400, { id: 1, error: { code: -32000 } }]);
    expect(body.error?.message).toMatch(/supported are: 2026-07-28, 2025-11-25, .*2024-11-05/);
  });

  test('the error for a stateless request of an unknown version lists those supported', async () => {
    const request = rpc('tools/list', statelessParams('2099-01-01'));
    const { status, body } = await post(me, request, statelessHeaders('2099-01-01'));
    expect([status, body.error]).toMatchObject([
      400,
      { code: -32022, data: { supported: ['2026-07-28'] } },
    ]);
  });

  test.each([
    ['without its headers', statelessParams('2026-07-28'), {}, -32020],
    [
      'with a header of another version',
      statelessParams('2026-07-28'),
      statelessHeaders('2025-11-25'),
      -32020,
    ],
    [
      'with the header of another method',
      statelessParams('2026-07-28'),
      statelessHeaders('2026-07-28', 'ping'),
      -32020,
    ],
    ['with the header only', {}, statelessHeaders('2026-07-28'), -32602],
  ])('a stateless request %s', async (_, params, given, code) => {
    expect(await errorOf(rpc('tools/list', params), given)).toEqual([400, code, 1]);
  });

  test('a stateless request of an unknown method', async () => {
    const request = rpc('tools/nothing', statelessParams('2026-07-28'));
    expect(await errorOf(request, statelessHeaders('2026-07-28', 'tools/nothing'))).toEqual([
      404, -32601, 1,
    ]);
  });

  test.each([
    ['as older revisions send it', {}],
    ['with the name of its method', { 'Mcp-Method': 'initialize' }],
    ['without what it needs', { 'Mcp-Method': 'initialize' }, {}],
  ])('initialize under the header of 2026-07-28, %s', async (_, given, params = INITIALIZE) => {
    const header = { 'MCP-Protocol-Version': '2026-07-28', ...given };
    expect(await errorOf(rpc('initialize', params), header)).toEqual([404, -32601, 1]);
    const stateless = { ...params, ...statelessParams('2026-07-28') };
    expect(await errorOf(rpc('initialize', stateless), header)).toEqual([404, -32601, 1]);
  });

  test('a subscription, which is not supported', async () => {
    const request = rpc('subscriptions/listen', {
      ...statelessParams('2026-07-28'),
      notifications: {},
    });
    const reply = await post(me, request, statelessHeaders('2026-07-28', 'subscriptions/listen'));
    expect([reply.headers['content-type'], reply.body.error?.code]).toEqual([
      'application/json; charset=utf-8',
      -32601,
    ]);
  });
});

test.each([
  ['no parameters', undefined],
  ['a version that is a number', { protocolVersion: 5, capabilities: {}, clientInfo: {} }],
  ['no clientInfo', { protocolVersion: '2025-11-25', capabilities: {} }],
])('the error for initialize with %s names what is required', async (_what, params) => {
  const { status, body } = await post(me, { jsonrpc: '2.0', id: 1, method: 'initialize', params });
  expect([status, body.error?.code]).toEqual([200, -32602]);
  expect(body.error?.message).toMatch(/^params must be an object with protocolVersion .*\.$/);
});

test.each([5, null, {}])(
  'the error for a cursor that is %j says that the list has one page',
  async (cursor) => {
    const { status, body } = await post(me, rpc('tools/list', { cursor }));
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32602,
          message: 'params.cursor must be a string or absent: the list has one page.',
        },
      },
    });
  },
);

test.each([5, null, { ttl: 'long' }, { ttl: 60_000 }])(
  'the task %j of a call is ignored',
  async (task) => {
    const { body } = await post(me, rpc('tools/call', { name: 'list_locations', task }));
    expect(body).toMatchObject({ result: { structuredContent: { items: [] } } });
  },
);
