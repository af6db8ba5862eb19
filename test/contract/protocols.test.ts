import { once } from 'node:events';
import { connect } from 'node:net';

import supertest from 'supertest';

import type { ProtocolMethod } from '../../src/plugins/protocol-endpoint';
import { openApiDocument } from '../../plugins/docs/openapi/document';
import { statelessHeaders, statelessParams } from '../mcp/support';
import { startService } from '../support/program';
import { several } from '../support/several';
import type { TestService } from '../support/service';

let service: TestService;
beforeAll(async () => {
  const env = { METRICS_TOKEN: 'x'.repeat(16), RATE_LIMIT_READS_MAX: '20', TRUST_PROXY: '1' };
  service = await startService({ env });
});
// Closing it compares every status and header with the document.
afterAll(() => service.close());

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
/** An address that gets all public documents of a minute. */
const GREEDY = { 'X-Forwarded-For': '192.0.2.1' };

/** What the walk does not provoke, and why. */
const ELSEWHERE: Record<string, string> = {
  'GET /healthz 429': 'an address may send 6,000 probes a minute',
  'GET /readyz 429': 'an address may send 6,000 probes a minute',
  'GET /metrics 429': 'an address may send 6,000 probes a minute',
};

interface Endpoint {
  path: string;
  name: string;
  method: ProtocolMethod;
}

function endpoints(): Endpoint[] {
  return service.app.description.protocols.flatMap(({ path, methods }) =>
    Object.entries(methods).map(([name, method]) => ({ path, name, method })),
  );
}

/** A request without a token; of some headers and a body. */
function send({ path, name }: Endpoint, headers: Record<string, string> = {}, body = '') {
  const agent = supertest(service.url);
  const at = path.replace(/\{\w+\}/g, 'none');
  return name === 'GET' ? agent.get(at).set(headers) : agent.post(at).set(headers).send(body);
}

/** The answers of an endpoint whose work fails in some way. */
async function failing(endpoint: Endpoint, fail: () => Promise<void>, headers = {}) {
  const { handler } = endpoint.method;
  endpoint.method.handler = fail;
  try {
    return await send(endpoint, headers);
  } finally {
    endpoint.method.handler = handler;
  }
}

async function breakDown(): Promise<void> {
  throw new TypeError('It is broken.');
}

/** As if MongoDB were away. */
async function reachNobody(): Promise<void> {
  await once(connect(1, '127.0.0.1'), 'connect');
}

/** The answer to an address that has no public documents left, if the endpoint is one. */
async function sendGreedily(endpoint: Endpoint) {
  const { access, isProbe = false } = endpoint.method;
  for (;;) {
    const answer = await send(endpoint, GREEDY);
    if (answer.status === 429 || isProbe || !('public' in access)) return answer;
    const file = `${service.url}/robots.txt`;
    await several(100, () => fetch(file, { method: 'HEAD', headers: GREEDY }));
  }
}

async function refusals(endpoint: Endpoint, token: string): Promise<number[]> {
  const own = { Authorization: `Bearer ${token}` };
  const json = { ...own, 'Content-Type': 'application/json' };
  const requests = [
    () => send(endpoint),
    () => send(endpoint, { Accept: 'text/event-stream' }),
    () => send(endpoint, { Authorization: 'Bearer nonsense' }),
    // No name of a host, and that of another one.
    () => send(endpoint, { Host: 'a b' }),
    () => send(endpoint, { Host: 'elsewhere.example' }),
    () => send(endpoint, FORM, 'client_id=nobody&grant_type=refresh_token&refresh_token=x&token=x'),
    () => send(endpoint, FORM, `name=${'x'.repeat(20_000)}`),
    () => send(endpoint, { ...own, 'Content-Type': 'text/plain' }, 'x'),
    () => send(endpoint, json, `"${'x'.repeat(3_000_000)}"`),
    () =>
      send(
        endpoint,
        { ...json, ...statelessHeaders('2026-07-28', 'tools/nothing') },
        JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/nothing',
          params: statelessParams('2026-07-28'),
        }),
      ),
    () => failing(endpoint, breakDown),
    () => failing(endpoint, reachNobody),
    () => sendGreedily(endpoint),
  ];
  const statuses: number[] = [];
  for (const request of requests) statuses.push((await request()).status);
  return statuses;
}

test('every refusal in the document of a protocol endpoint is sent', async () => {
  const { description } = service.app;
  // It was just created as such.
  const { paths } = openApiDocument(description) as unknown as {
    paths: Record<string, Record<string, { responses: object }>>;
  };
  const unsent: string[] = [];
  for (const each of endpoints()) {
    const { token } = await service.user();
    const seen = new Set((await refusals(each, token)).map(String));
    if ('anyToken' in each.method.access) seen.add(await spend(each));
    const declared = Object.keys(paths[each.path]?.[each.name.toLowerCase()]?.responses ?? {});
    const missing = declared.filter((status) => Number(status) >= 400 && !seen.has(status));
    unsent.push(...missing.map((status) => `${each.name} ${each.path} ${status}`));
  }
  expect(unsent.filter((each) => !(each in ELSEWHERE))).toEqual([]);
  expect(Object.keys(ELSEWHERE).filter((each) => !unsent.includes(each))).toEqual([]);
});

function endpoint(path: string, name = 'GET'): Endpoint {
  const found = endpoints().find((each) => each.path === path && each.name === name);
  if (!found) throw new Error(`There is no ${name} ${path}.`);
  return found;
}

/** The status of an account that has no reads left. */
async function spend({ path }: Endpoint): Promise<string> {
  const user = await service.user();
  for (let sent = 0; sent < 20; sent += 1) await user.post(path, {});
  const answer = await user.post(path, {});
  expect(answer.headers['ratelimit']).toMatch(/^"reads";r=0;t=\d+$/);
  return String(answer.status);
}

const PAGES = [
  '/oauth/authorize',
  '/oauth/consent/{uid}',
  '/sign-in',
  '/sign-up',
  '/settings',
  '/join',
  '/garden',
  '/garden/{id}',
  '/gardens/{garden}',
  '/gardens/{garden}/{id}',
  '/sitter/{secret}',
  '/sitter/{secret}/{id}',
];

test('people get a page when something fails, whatever it is', async () => {
  const pages = endpoints().filter(({ path }) => PAGES.includes(path));
  expect(pages).toHaveLength(23);
  for (const each of pages) {
    const french = { 'Accept-Language': 'fr' };
    for (const [answer, status, sentence] of [
      [await failing(each, breakDown), 500, 'does not work at the moment'],
      [await failing(each, reachNobody, french), 503, 'ne fonctionne pas'],
      [await sendGreedily(each), 429, 'Too many attempts'],
      [await send(each, { Host: 'elsewhere.example' }), 404, 'not the address'],
    ] as const) {
      expect([each.path, answer.status, answer.type]).toEqual([each.path, status, 'text/html']);
      expect(answer.text).toContain(sentence);
      expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    }
  }
});

const OAUTH = ['/oauth/token', '/oauth/revoke', '/oauth/register'];

test('clients get codes of OAuth when something fails', async () => {
  for (const path of OAUTH) {
    const each = endpoint(path, 'POST');
    for (const [answer, status, error, code] of [
      [await failing(each, breakDown), 500, 'server_error', 'internal_error'],
      [await failing(each, reachNobody), 503, 'temporarily_unavailable', 'service_unavailable'],
      [await sendGreedily(each), 429, 'temporarily_unavailable', 'rate_limited'],
      [await send(each, { Host: 'elsewhere.example' }), 404, 'invalid_request', 'not_found'],
    ] as const) {
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([status, '*']);
      const description = expect.stringMatching(/^[A-Z].*\.$/) as string;
      expect(answer.body).toEqual({ error, error_description: description, code });
    }
  }
});
