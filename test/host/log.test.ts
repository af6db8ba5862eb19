import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import path from 'node:path';

import type { TestService, TestUser } from '../support/service';
import { until } from '../support/processes';
import { storeLargest, startService } from '../support/program';

type Line = Record<string, unknown>;

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService({ env: { LOG_CLIENT_IP: 'full' } });
  user = await service.user();
});
afterAll(() => service.close());

/** The lines of the requests with an id, once all were logged. */
async function linesOf(requestId: string, of = service): Promise<Line[]> {
  const found = () => of.logged.filter((line) => line.includes(`"requestId":"${requestId}"`));
  await until(() => found().some((line) => line.includes('"msg":"request"')));
  return found().map((line) => JSON.parse(line) as Line);
}

async function requestLine(requestId: string, of = service): Promise<Line> {
  const line = (await linesOf(requestId, of)).find(({ msg }) => msg === 'request');
  return line ?? {};
}

test('a request is logged as one line with everything that operators need', async () => {
  const answer = await user.get('/api/plants').set('X-Request-Id', 'all').expect(200);
  const lines = await linesOf('all');
  expect(lines).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      requestId: 'all',
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      method: 'GET',
      operation: 'GET /api/plants',
      status: 200,
      ms: expect.any(Number) as number,
      account: expect.stringMatching(/^[\w-]{22}$/) as string,
      token: expect.stringMatching(UUID) as string,
      client: '127.0.0.1',
      bytes: Buffer.byteLength(answer.text),
      msg: 'request',
    },
  ]);
});

test('an error is logged only in the line of its request, with its code', async () => {
  await user.post('/api/plants', {}).set('X-Request-Id', 'faulty').expect(400);
  await service.anonymous.get('/nowhere').set('X-Request-Id', 'nowhere').expect(404);
  expect(await linesOf('faulty')).toMatchObject([{ status: 400, code: 'validation_error' }]);
  expect(await linesOf('nowhere')).toMatchObject([{ operation: 'none', code: 'not_found' }]);
});

test('the replay of a stored error is logged with its code', async () => {
  const missing = '/api/plants/00000000-0000-4000-8000-000000000000/events';
  for (const id of ['first', 'second']) {
    await user.post(missing).set('Idempotency-Key', 'gone').set('X-Request-Id', id).expect(404);
  }
  expect(await requestLine('second')).toMatchObject({ status: 404, code: 'plant_not_found' });
});

test('a tool call is logged with the name of the tool and the error code', async () => {
  const call = (id: string, args: object) =>
    user
      .post('/api/mcp', {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'create_plant', arguments: args },
      })
      .set('X-Request-Id', id)
      .expect(200);
  await call('tool-good', { name: 'Fern' });
  await call('tool-bad', {});
  const good = await requestLine('tool-good');
  expect(good).toMatchObject({ operation: 'POST /api/mcp', tool: 'create_plant' });
  expect(good).not.toHaveProperty('code');
  expect(await requestLine('tool-bad')).toMatchObject({
    tool: 'create_plant',
    status: 200,
    code: 'validation_error',
  });
});

test('probes are logged at debug level', async () => {
  for (const probe of ['/healthz', '/readyz', '/metrics']) {
    const id = `probe${probe.replace('/', '-')}`;
    await service.anonymous.get(probe).set('X-Request-Id', id).expect(200);
    expect(await linesOf(id)).toMatchObject([{ level: 'debug', operation: `GET ${probe}` }]);
  }
});

test('a valid traceparent is continued with a new span', async () => {
  const parents = [`00-${TRACE_ID}-${SPAN_ID}-01`, `cc-${TRACE_ID}-${SPAN_ID}-01-what-comes-later`];
  for (const [index, traceparent] of parents.entries()) {
    const id = `traced-${index}`;
    await user.get('/api/plants').set('X-Request-Id', id).set('traceparent', traceparent);
    const line = await requestLine(id);
    expect(line).toMatchObject({ traceId: TRACE_ID, parentSpanId: SPAN_ID });
    expect(line['spanId']).not.toBe(SPAN_ID);
  }
});

test.each([
  'nonsense',
  `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
  `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
  `ff-${TRACE_ID}-${SPAN_ID}-01`,
  `00-${TRACE_ID}-${SPAN_ID}-01-more`,
  `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`,
])('the traceparent %s begins a new trace', async (traceparent) => {
  const id = `untraced-${traceparent.slice(0, 50).replaceAll(/\W/g, '.')}`;
  await user.get('/api/plants').set('X-Request-Id', id).set('traceparent', traceparent);
  const line = await requestLine(id);
  expect(line['traceId']).toMatch(/^[0-9a-f]{32}$/);
  expect(line['traceId']).not.toBe(TRACE_ID);
  expect(line).not.toHaveProperty('parentSpanId');
});

test('an account has the same unique name in the logs of all processes', async () => {
  const other = await startService({ mongodbUri: service.mongodbUri });
  try {
    const stranger = await service.user();
    await user.get('/api/plants').set('X-Request-Id', 'here');
    await stranger.get('/api/plants').set('X-Request-Id', 'stranger');
    await fetch(`${other.url}/api/plants`, {
      headers: { authorization: `Bearer ${user.token}`, 'x-request-id': 'there' },
    });
    const { account } = await requestLine('here');
    expect(account).toMatch(/^[\w-]{22}$/);
    expect((await requestLine('there', other))['account']).toBe(account);
    expect((await requestLine('stranger'))['account']).not.toBe(account);
  } finally {
    await other.close();
  }
});

test('a client that disconnects during a long response is logged as aborted', async () => {
  const gardener = await service.user();
  await storeLargest(service.app, gardener.id, { plants: 500, events: 1 });
  const headers = { authorization: `Bearer ${gardener.token}`, 'x-request-id': 'aborted' };
  await new Promise<void>((resolve) => {
    get(`${service.url}/api/plants`, { headers, agent: false }, (answer) => {
      answer.once('data', () => {
        answer.destroy();
        resolve();
      });
    });
  });
  const line = await requestLine('aborted');
  expect(line).toMatchObject({ aborted: true });
  const whole = await gardener
    .get('/api/plants')
    .set({ 'Accept-Encoding': 'identity', 'X-Request-Id': 'whole' })
    .expect(200);
  const { bytes } = await requestLine('whole');
  expect(bytes).toBe(Buffer.byteLength(whole.text));
  expect(line['bytes']).toBeLessThan(Number(bytes));
});

describe('a failed authentication', () => {
  /** The filter's expressions in JavaScript; `<ADDR>` is fail2ban's. */
  function filter(): { failure: RegExp; date: RegExp } {
    const file = path.resolve(__dirname, '../../deploy/fail2ban/filter.d/plant-care.conf');
    const option = (name: string) =>
      new RegExp(`^${name} = (.*)$`, 'm').exec(readFileSync(file, 'utf8'))?.[1] ?? '';
    const digits = option('datepattern').replaceAll(/%%[YmdHMSf]/g, '\\d+');
    return {
      failure: new RegExp(option('failregex').replace('<ADDR>', '(?<address>[0-9a-fA-F.:]+)')),
      date: new RegExp(digits),
    };
  }

  test.each([
    ['without a token', undefined, 'unauthorized'],
    ['with a wrong one', 'Bearer wrong', 'invalid_token'],
  ])('%s is logged as one line that the fail2ban filter matches', async (name, header, code) => {
    const id = `failed-${name.replaceAll(' ', '-')}`;
    const request = service.anonymous.get('/api/plants').set('X-Request-Id', id);
    await (header === undefined ? request : request.set('Authorization', header)).expect(401);
    await requestLine(id);
    const { failure, date } = filter();
    const taken = service.logged
      .filter((line) => line.includes(id))
      .filter((line) => date.test(line))
      .flatMap((line) => failure.exec(line.trim())?.groups?.['address'] ?? []);
    expect(taken).toEqual(['127.0.0.1']);
    expect(await linesOf(id)).toMatchObject([
      { level: 'warn', client: '127.0.0.1', code },
      { level: 'info', status: 401, code },
    ]);
  });

  test('is not logged for a request that succeeds', async () => {
    await user.get('/api/plants').set('X-Request-Id', 'succeeded').expect(200);
    await requestLine('succeeded');
    const lines = service.logged.filter((line) => line.includes('"requestId":"succeeded"'));
    expect(lines.filter((line) => filter().failure.test(line.trim()))).toEqual([]);
  });
});

describe('LOG_CLIENT_IP', () => {
  /** The line of a request from each address, and everything that was logged. */
  async function linesUnder(setting: string | undefined, addresses: readonly string[]) {
    const env = { TRUST_PROXY: '1', LOG_CLIENT_IP: setting };
    const other = await startService({ env });
    try {
      const lines: Record<string, unknown>[] = [];
      for (const [index, address] of addresses.entries()) {
        await other.anonymous
          .get('/api/plants')
          .set('X-Forwarded-For', address)
          .set('X-Request-Id', `address-${index}`);
        lines.push(await requestLine(`address-${index}`, other));
      }
      return { lines, log: other.logged.join('') };
    } finally {
      await other.close();
    }
  }

  test.each([undefined, 'off'])('%s logs no address', async (setting) => {
    const { lines, log } = await linesUnder(setting, ['203.0.113.7']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toHaveProperty('client');
    expect(log).not.toMatch(/203\.0\.113|127\.0\.0/);
  });

  test.each([
    [
      'masked logs the network of an address alone',
      'masked',
      {
        '203.0.113.7': '203.0.113.0',
        '2001:db8:1:2:3:4:5:6': '2001:db8:1::/48',
        '::ffff:203.0.113.7': '203.0.113.0',
      },
    ],
    [
      'full logs whatever is an address',
      'full',
      {
        '203.0.113.7': '203.0.113.7',
        '2001:db8:1:2:3:4:5:6': '2001:db8:1:2:3:4:5:6',
        'what a proxy"may send': undefined,
      },
    ],
  ])('%s', async (_name, setting, addresses) => {
    const { lines } = await linesUnder(setting, Object.keys(addresses));
    expect(lines.map(({ client }) => client)).toEqual(Object.values(addresses));
  });
});
